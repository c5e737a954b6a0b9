// What a kernel calls of a C library, for modules of WebAssembly, which are linked with none.
#include <cstddef>

extern "C" {

// Bytes one by one, for a part of a vector is all that the kernels ask for. (Compiled with -fno-builtin: else a loop
// would become a call of itself.)
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

// A broken promise of a CHECKED kernel traps; there is nowhere to print which one.
extern void* const stderr;
void* const stderr = nullptr;
int fputs(const char*, void*) { return 0; }
[[noreturn]] void abort() { __builtin_trap(); }
}
