// What a program without an operating system has of a board in QEMU: a console and files by semihosting
// (https://github.com/ARM-software/abi-aa/blob/main/semihosting/semihosting.rst), a count of instructions, an
// interrupt, and its stack. None of it allocates; the start-up calls main with the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace board {

// To the standard output of QEMU.
void print(const char* text) noexcept;
void print(const char* text, std::size_t size) noexcept;
void print_number(std::uint64_t number, int width = 0) noexcept;  // right-aligned

// Ends QEMU, whose exit status it becomes (0 to 255).
[[noreturn]] void exit(int status) noexcept;

// A file of the machine that QEMU runs on.
class File {
 public:
  explicit File(const char* name) noexcept;  // to be read
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const noexcept { return handle_ != -1; }
  // How much was read: less than there is room for only at the end.
  std::size_t read(std::span<char> into) noexcept;

 private:
  int handle_;
};

// Instructions since the start, exact in QEMU (run: -icount shift=0) but for what the timer can tell: SysTick counts in
// steps of 40, on the M33's board 50 and on the M55's 31.25. RISC-V has a counter of instructions.
std::uint64_t instructions() noexcept;

// Calls a function in the timer's interrupt each time that about so many instructions have gone by; null ends it.
// instructions() goes on all the while.
using Handler = void (*)() noexcept;
void interrupt_every(std::uint32_t instructions, Handler handler) noexcept;

// The deepest that the stack got below the frame that painted it, in bytes: from 64 up.
void paint_stack() noexcept;
std::size_t stack_used() noexcept;

// Bytes of the image.
struct Image {
  std::size_t flash;    // code, constants and the initial values of what can be written
  std::size_t written;  // what can be written: .data and .bss
  std::size_t stack;    // what is set aside for it
};
Image image() noexcept;

}  // namespace board
