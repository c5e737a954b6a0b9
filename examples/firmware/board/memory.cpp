// Measures the memory that the program takes.
#include "memory.hpp"

#include "board.hpp"

namespace board {
namespace {

constexpr std::uint32_t paint = 0x9e3779b9;  // a value that programs are unlikely to store

std::uint32_t* painted_end;

std::uint32_t* bottom() noexcept { return reinterpret_cast<std::uint32_t*>(board_stack); }

}  // namespace

// `at` points to volatile words, so the compiler must store each word in the loop. Otherwise, the compiler would call
// memset, and memset would overwrite its own stack frame. The loop leaves out the 16 words below the frame address,
// because paint_stack itself uses them.
__attribute__((noinline)) void paint_stack() noexcept {
  painted_end = static_cast<std::uint32_t*>(__builtin_frame_address(0));
  for (volatile std::uint32_t* at = bottom(); at < painted_end - 16; ++at) *at = paint;
}

std::size_t stack_used() noexcept {
  const std::uint32_t* deepest = bottom();
  while (deepest < painted_end && *deepest == paint) ++deepest;
  return static_cast<std::size_t>(painted_end - deepest) * sizeof paint;
}

Image image() noexcept {
  const char *const weights = board_weights, *const begin = board_flash_begin, *const end = board_flash_end;
  const bool apart = weights < begin || weights >= end;  // the weights are in a separate flash memory
  return {.flash = static_cast<std::size_t>(end - begin + (board_data_end - board_data) +
                                            (apart ? board_weights_end - weights : 0)),
          .written = static_cast<std::size_t>(board_data_end - board_data + (board_bss_end - board_bss)),
          .stack = static_cast<std::size_t>(board_stack_end - board_stack)};
}

}  // namespace board
