// Declares the part of the start-up code that Arm and RISC-V share. The stack pointer must be set before any call.
#pragma once

namespace board {

// Initialises .data and .bss, calls main, and ends the program.
[[noreturn]] void start_program() noexcept;

// Sets `arguments` to the words of the command line, and returns the number of words. Spaces separate words, so a file
// name cannot contain a space.
int take_arguments(char**& arguments) noexcept;

}  // namespace board
