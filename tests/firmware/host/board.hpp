// Of examples/firmware/board what a program needs that is compared with itself on this machine.
#pragma once

#include <cinttypes>
#include <cstdio>

namespace board {

inline void print(const char* text) { std::fputs(text, stdout); }
inline void print_number(std::uint64_t number) { std::printf("%" PRIu64, number); }

}  // namespace board
