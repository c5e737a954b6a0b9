// Defines `ask`, which calls an operation of the semihosting host, such as QEMU. The second argument of `ask` is a
// number, or the address of a parameter block.
#pragma once

#include <cstdint>

namespace board {

enum class Operation : std::uint32_t {
  open = 0x01,
  close = 0x02,
  write = 0x05,
  read = 0x06,
  command_line = 0x15,
  exit = 0x20,
};

// A number or address that is passed to the host, as wide as a register.
using Word = std::uintptr_t;

template <class T>
Word word(T* address) noexcept {
  return reinterpret_cast<Word>(address);
}

inline std::int32_t ask(Operation operation, const void* argument) noexcept {
#if defined(__riscv)
  register Word answer asm("a0") = static_cast<Word>(operation);
  register const void* second asm("a1") = argument;
  // These three instructions mark a semihosting call, so that QEMU does not regard ebreak as a breakpoint. The three
  // instructions must be uncompressed (.option norvc) and lie on one page (.balign 16).
  asm volatile(".balign 16\n.option push\n.option norvc\nslli zero, zero, 0x1f\nebreak\nsrai zero, zero, 7\n.option pop"
               : "+r"(answer)
               : "r"(second)
               : "memory");
#else
  register Word answer asm("r0") = static_cast<Word>(operation);
  register const void* second asm("r1") = argument;
  asm volatile("bkpt 0xab" : "+r"(answer) : "r"(second) : "memory");
#endif
  return static_cast<std::int32_t>(answer);
}

}  // namespace board
