// Breaks the promise that its argument names: a checked build ends the program and says which it was.
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <ladon/ladon.hpp>

#include "preconditions.hpp"

using ladon_test::shape, ladon_test::Attention;

namespace {

// A run with everything as it must be, but for the options.
template <class Mask>
void run(const typename Attention<Mask>::Options& options) {
  static typename Attention<Mask>::Workspace workspace;
  const std::array<float, 6> q{};
  const std::array<float, 8> k{}, v{};
  std::array<float, 6> out{};
  Attention<Mask>::run(q, k, v, out, workspace, options);
}

template <class Mask, class Score = ladon::score::Scaled, class Position = ladon::position::None>
struct Projected {
  using Attention = ladon::MultiHeadAttention<shape, Mask, ladon::layout::InProj, Score, Position>;
  using Options = typename Attention::Options;
  std::array<float, 6> x{}, y{};
  std::array<float, 8> context{};
  std::array<float, 12> in_weight{};
  std::array<float, 6> in_bias{};
  std::array<float, 4> out_weight{};
  std::array<float, 2> out_bias{};
  typename Attention::Weights weights{.in_proj = {in_weight, in_bias}, .out_proj = {out_weight, out_bias}};
  typename Attention::Cache cache{};
  typename Attention::KeyWorkspace keys{};
  typename Attention::CachedWorkspace workspace{};

  void project(const Options& options) { Attention::project_keys(context, weights, cache, keys, options); }
  void attend(const Options& options) { Attention::attend(x, cache, weights, y, workspace, options); }
  void extend(const Options& options) { Attention::extend(x, cache, weights, y, workspace, options); }
  void run_phase(std::size_t phase, ladon::Share share) {
    typename Attention::Shared shared{};
    typename Attention::Scratch scratch{};
    Attention::run_phase(phase, share, x, context, weights, y, shared, scratch);
  }
};

using Rotated =
    Projected<ladon::mask::None, ladon::score::Scaled, ladon::position::Rotary<ladon::Pairing::neighbours, 2, 4>>;
struct Sunk : ladon::score::Scaled {
  static constexpr bool sinks = true;
};
constexpr auto table = ladon::rotary_table<4, 2>();

// A run of attention of `x` to itself. `shift` is added to the address of the workspace.
void run_self(const float* x, float* y, unsigned char* memory, std::size_t shift = 0) {
  using Self = ladon::MultiHeadAttention<ladon::Shape{.queries = 3, .model = 2, .heads = 1}>;
  static const std::array<float, 12> weight{};
  static const std::array<float, 6> bias{};
  const Self::Weights weights{.in_proj = {weight, bias}, .out_proj = {weight.data(), bias.data()}};
  static_assert(sizeof(Self::Workspace) + 64 <= 65536);
  Self::run(x, weights, y, *reinterpret_cast<Self::Workspace*>(memory + shift));
}
alignas(64) unsigned char workspace_memory[65536];

}  // namespace

int main(int, char** arguments) {
  using namespace ladon::mask;
  std::signal(SIGABRT, [](int) { std::_Exit(1); });  // what was said is the result; CTest counts a crash as a failure
  const std::string_view broken(arguments[1]);
  const std::array<std::uint8_t, 12> pairs{};
  const std::array<float, 12> values{};
  if (broken == "queries") run<None>({.queries = 4});
  if (broken == "beside_unchecked") {
    std::fprintf(stderr, "%zu queries, unchecked\n", ladon_test::unchecked_queries());
    ladon_test::queries_of_too_many();
  }
  if (broken == "keys") run<None>({.keys = 5});
  if (broken == "tokens") run<None>({.tokens = 4});
  if (broken == "cache") {
    Projected<Causal> text;
    text.extend({});
    text.extend({.tokens = 2});
  }
  if (broken == "attended_keys") {
    Projected<None> memory;
    memory.project({.keys = 2});
    memory.attend({.keys = 3});
  }
  if (broken == "ring_offset") {
    Projected<Window<1>> text;
    text.extend({.mask = {.offset = 1}});
  }
  if (broken == "rotary_table") {
    Rotated memory;
    memory.project({.position = {.table = &table, .offset = 1}});
  }
  if (broken == "ring_attended") {
    Projected<Window<1>> text;
    for (int i = 0; i < 5; ++i) text.extend({.tokens = 1});
    text.attend({});
  }
  if (broken == "no_rotary_table") {
    Rotated memory;
    memory.project({});
  }
  if (broken == "no_bias") {
    Projected<Causal> text;
    text.weights.out_proj.bias = {};
    text.extend({});
  }
  if (broken == "no_sinks") {
    Projected<Causal, Sunk> text;
    text.extend({});
  }
  if (broken == "phase") Projected<None>().run_phase(3, {});
  if (broken == "share") Projected<None>().run_phase(0, {.index = 2, .count = 2});
  if (broken == "boolean_columns") run<Boolean>({.mask = {.may_see = pairs, .keys = 5}});
  if (broken == "additive_columns") run<Additive>({.mask = {.values = values, .keys = 5}});
  std::array<float, 7> x{};
  std::array<float, 6> y{};
  if (broken == "workspace_alignment") run_self(x.data(), y.data(), workspace_memory, 4);
  if (broken == "y_in_workspace") run_self(x.data(), reinterpret_cast<float*>(workspace_memory), workspace_memory);
  if (broken == "x_in_workspace") run_self(reinterpret_cast<float*>(workspace_memory), y.data(), workspace_memory);
  if (broken == "y_beside_x") run_self(x.data(), x.data() + 1, workspace_memory);
  if (broken == "null_x") run_self(nullptr, y.data(), workspace_memory);
  if (broken == "null_y") run_self(x.data(), nullptr, workspace_memory);
  if (broken == "y_is_x") run_self(x.data(), x.data(), workspace_memory);
  std::puts("nothing was said");
  return 0;
}
