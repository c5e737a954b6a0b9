// Defines for the host the functions of examples/firmware/board that same_bits.cpp calls. A test compares the output of
// the host with the output of the boards.
#pragma once

#include <cinttypes>
#include <cstdio>

namespace board {

inline void print(const char* text) { std::fputs(text, stdout); }
inline void print_number(std::uint64_t number) { std::printf("%" PRIu64, number); }

}  // namespace board
