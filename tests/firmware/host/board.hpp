// The functions of examples/firmware/board that same_bits.cpp needs, for the host. The output of the host is compared
// with the output of the boards.
#pragma once

#include <cinttypes>
#include <cstdio>

namespace board {

inline void print(const char* text) { std::fputs(text, stdout); }
inline void print_number(std::uint64_t number) { std::printf("%" PRIu64, number); }

}  // namespace board
