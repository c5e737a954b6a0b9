// Declares functions of a board in QEMU, for programs without an operating system: a console and files by semihosting
// (https://github.com/ARM-software/abi-aa/blob/main/semihosting/semihosting.rst), a counter of instructions, a timer
// interrupt, and the size of the stack. No function allocates memory. The start-up code calls main with the command
// line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace board {

// Prints to the standard output of QEMU.
void print(const char* text) noexcept;
void print(const char* text, std::size_t size) noexcept;
void print_number(std::uint64_t number, int width = 0) noexcept;  // right-aligned in `width` characters

// Ends QEMU. `status` (0 to 255) becomes the exit status of QEMU.
[[noreturn]] void exit(int status) noexcept;

// A file of the host, the machine that runs QEMU.
class File {
 public:
  explicit File(const char* name) noexcept;  // opens the file for reading
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const noexcept { return handle_ != -1; }
  // Returns the number of bytes read, which is into.size() except at the end of the file.
  std::size_t read(std::span<char> into) noexcept;

 private:
  int handle_;
};

// Returns the number of instructions since the start. The script `run` starts QEMU with -icount shift=0, so every
// instruction takes exactly one nanosecond. On RISC-V, the result is exact, because the processor has a counter of
// instructions. On Arm, the function counts the ticks of the timer SysTick, so the result grows in steps of one tick. A
// tick has 50 instructions on the board of the M33, 31.25 on the board of the M55, and 40 on every other board.
std::uint64_t instructions() noexcept;

// From now on, the timer interrupt calls `handler` repeatedly. About `instructions` instructions lie between two calls.
// A null pointer stops the calls. The counter of instructions() continues.
using Handler = void (*)() noexcept;
void interrupt_every(std::uint32_t instructions, Handler handler) noexcept;

// paint_stack fills the unused stack with a pattern. stack_used finds the deepest byte of the stack that no longer has
// the pattern, and returns its distance from the frame of paint_stack. The result is at least 64, because paint_stack
// does not paint the 64 bytes below its frame address.
void paint_stack() noexcept;
std::size_t stack_used() noexcept;

// The sizes in bytes of the parts of the program image.
struct Image {
  std::size_t flash;    // code, constants and the initial values of variables
  std::size_t written;  // variables: .data and .bss
  std::size_t stack;    // reserved for the stack
};
Image image() noexcept;

}  // namespace board
