// SPDX-License-Identifier: Apache-2.0
// Defines the functions of the C library that a kernel calls, because WebAssembly modules are linked without a C
// library. Also exports a function that grows the memory.
#include <cstddef>

extern "C" {

// Kernels call memcpy only for parts of a vector register, so a loop over bytes is fast enough. This file is compiled
// with -fno-builtin. Otherwise, the compiler would replace the loop in memcpy by a call of memcpy itself.
void* memcpy(void* __restrict to, const void* __restrict from, std::size_t count) {
  auto* const out = static_cast<char*>(to);
  const auto* const in = static_cast<const char*>(from);
  for (std::size_t i = 0; i < count; ++i) out[i] = in[i];
  return to;
}

void* memmove(void* to, const void* from, std::size_t count) {
  auto* const out = static_cast<char*>(to);
  const auto* const in = static_cast<const char*>(from);
  if (out < in) {
    for (std::size_t i = 0; i < count; ++i) out[i] = in[i];
  } else {
    for (std::size_t i = count; i-- > 0;) out[i] = in[i];
  }
  return to;
}

void* memset(void* to, int value, std::size_t count) {
  auto* const out = static_cast<char*>(to);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<char>(value);
  return to;
}

// A CHECKED kernel calls fputs and abort if a precondition is broken (checks.hpp). A WebAssembly module cannot print,
// so fputs does nothing. abort executes a trap instruction.
extern void* const stderr;
void* const stderr = nullptr;
int fputs(const char*, void*) { return 0; }
[[noreturn]] void abort() { __builtin_trap(); }

// Grows the memory by `pages` pages of 64 KiB. Returns the earlier number of pages, or -1 if the memory cannot grow.
__attribute__((export_name("grow_memory"))) int ladon_grow_memory(int pages) {
  return static_cast<int>(__builtin_wasm_memory_grow(0, static_cast<std::size_t>(pages)));
}
}
