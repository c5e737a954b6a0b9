// same_bits.cpp runs on boards and on the host. This header replaces examples/firmware/board/board.hpp on the host. A
// test compares the outputs of the boards with the output of the host.
#pragma once

#include <cinttypes>
#include <cstdio>

namespace board {

inline void print(const char* text) { std::fputs(text, stdout); }
inline void print_number(std::uint64_t number) { std::printf("%" PRIu64, number); }

}  // namespace board
