// The first way to use Ladon without CMake: compile the headers. This is the only C++ file of the program.
#include "attention.h"

#include <ladon/ladon.hpp>

namespace {

constexpr ladon::Shape shape{.queries = ATTENTION_TOKENS, .model = ATTENTION_MODEL, .heads = ATTENTION_HEADS};
using SelfAttention = ladon::MultiHeadAttention<shape>;

// The start-up code does not clear the section .fast_ram, which contains the workspace. The section needs no clearing,
// because a call does not read old content of the workspace.
IN_FAST_RAM SelfAttention::Workspace workspace;
static_assert(sizeof workspace <= 24 * 1024, "the linker script reserves 24 KB of fast RAM");

}  // namespace

void attention(const float* x, float* y) {
  SelfAttention::run(x, {.in_proj = {in_weight, in_bias}, .out_proj = {out_weight, out_bias}}, y, workspace);
}
