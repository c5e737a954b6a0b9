// Declares the part of the start-up code that Arm and RISC-V share. The stack pointer must be set before any call.
#pragma once

namespace board {

// Initialises .data and .bss, calls main, and ends the program.
[[noreturn]] void start_program() noexcept;

// Splits the command line at spaces, so a file name cannot contain a space. Returns the number of arguments.
int take_arguments(char**& arguments) noexcept;

}  // namespace board
