// What compilers call by themselves, for a module of WebAssembly that is linked with no C library. Bytes one by one: the
// kernels only ask for a part of a vector. (Compiled with -fno-builtin: else a loop would become a call of itself.)
#include <cstddef>

extern "C" {

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
}
