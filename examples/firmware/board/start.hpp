// What both processors' start-up does once there is a stack.
#pragma once

namespace board {

// Fills .data and .bss, and runs main to the end of the program.
[[noreturn]] void start_program() noexcept;

// The command line, parted at its spaces: no name may hold one. How many arguments there are.
int take_arguments(char**& arguments) noexcept;

}  // namespace board
