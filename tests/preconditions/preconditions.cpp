// The argument of this program is the name of a precondition. The program breaks this precondition. A checked build
// prints the precondition and ends the program.
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

#include <ladon/ladon.hpp>

#include "preconditions.hpp"
#include "stacks.hpp"

using ladon_test::small, ladon_test::Attention;

namespace {

// Runs attention with correct arrays and with the given options, which may be wrong.
template <class Mask>
void run(const typename Attention<Mask>::Options& options) {
  static typename Attention<Mask>::Workspace workspace;
  const std::array<float, 6> q{};
  const std::array<float, 8> k{}, v{};
  std::array<float, 6> out{};
  Attention<Mask>::run(q, k, v, out, workspace, options);
}

// Runs attention with an output that overlaps another array. If `where` is "keys" or "values", the output overlaps the
// keys or the values. With any other text, the output overlaps the first bytes of the workspace.
void run_with_output_in(std::string_view where) {
  struct {
    alignas(64) std::array<float, 16> before{};
    Attention<ladon::mask::Unmasked>::Workspace workspace{};
  } static memory;
  static std::array<float, 16> q, k, v;
  float* const workspace = memory.before.data() + 16;
  float* const out = where == "keys" ? &k[7] : where == "values" ? &v[7] : workspace - 5;
  Attention<ladon::mask::Unmasked>::run(q.data(), k.data(), v.data(), out, memory.workspace);
}

void convolve(const float* x, std::size_t rows, float* y) {
  using Part = ladon::Convolution<ladon::ConvolutionModel{.length = 6, .inputs = 1, .outputs = 1, .width = 2}>;
  static Part::Workspace workspace;
  const std::array<float, 2> weight{};
  const std::array<float, 1> bias{};
  Part::run(x, rows, {weight, bias}, y, workspace);
}

void read_series(const float* x, std::size_t numbers, float* y) {
  constexpr ladon::MaskedSeriesModel model{.length = 6, .patch = 2};
  ladon::masked_series_patches<model>(x, numbers, y, ladon::masked_series_scale<model>(x, numbers));
}

// Divides texts of these lengths into calls.
void divide(std::initializer_list<std::size_t> lengths) {
  const std::array<std::int32_t, 6> ids{};
  ladon::for_each_call({ids.data(), lengths.begin(), lengths.size()}, 5, {}, [](const ladon::Texts&, std::size_t) {});
}

// Computes texts of these lengths in a call for at most 4 tokens.
void run_texts(std::initializer_list<std::size_t> lengths) {
  using Stack = ladon::Encoder<ladon::model_of_texts({.tokens = 8, .model = 2, .heads = 1, .feed_forward = 1}, 4)>;
  static ladon::TextsWorkspace<Stack, 4> workspace;
  static std::array<float, 16> x, y;
  const Stack::Weights weights{};
  ladon::run_together<Stack>({nullptr, lengths.begin(), lengths.size()}, x.data(), weights, y.data(), workspace);
}

template <class Mask, class Score = ladon::score::Scaled, class Position = ladon::position::Unrotated>
struct Projected {
  using Attention = ladon::MultiHeadAttention<small, Mask, ladon::layout::InProj, Score, Position>;
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
  float* y_given = y.data();

  void project(const Options& options) { Attention::project_keys(context, weights, cache, keys, options); }
  void attend(const Options& options) { Attention::attend(x, cache, weights, y_given, workspace, options); }
  void extend(const Options& options) { Attention::extend(x, cache, weights, y_given, workspace, options); }
  void run_part(std::size_t phase, ladon::Share share) { run_part(phase, share, context.data()); }
  void run_part(std::size_t phase, ladon::Share share, const float* context_given) {
    typename Attention::template CrossTeamWorkspace<3> team{};
    Attention::run(x, context_given, weights, y, team.part(phase, share));
  }
};

using Rotated =
    Projected<ladon::mask::Unmasked, ladon::score::Scaled, ladon::position::Rotary<ladon::Pairing::neighbours, 2, 4>>;
struct Sunk : ladon::score::Scaled {
  static constexpr bool sinks = true;
};
constexpr auto table = ladon::rotary_table<4, 2>();

// Gives the first query the position -1, but the rotary table begins at position 0. The position of the first query is
// offset + keys - queries = 1 + 2 - 4.
void run_before_the_first_position() {
  using Before = ladon::Attention<ladon::Shape{.queries = 4, .keys = 2, .model = 2, .heads = 1}, ladon::mask::Unmasked,
                                  ladon::score::Scaled, ladon::position::Rotary<ladon::Pairing::neighbours, 2, 4>>;
  static Before::Workspace workspace;
  const std::array<float, 8> q{};
  const std::array<float, 4> k{}, v{};
  std::array<float, 8> out{};
  Before::run(q, k, v, out, workspace, {.position = {.table = &table, .offset = 1}});
}

using Self = ladon::MultiHeadAttention<ladon::Shape{.queries = 3, .model = 2, .heads = 1}>;
const std::array<float, 12> self_weight{};
const Self::Weights self_weights{.in_proj = {self_weight.data(), self_weight.data()},
                                 .out_proj = {self_weight.data(), self_weight.data()}};

// Runs self-attention from `x` to `y`. The workspace begins `shift` bytes behind `memory`, so that it can be
// misaligned.
void run_self(const float* x, float* y, unsigned char* memory, std::size_t shift = 0) {
  static_assert(sizeof(Self::Workspace) + 64 <= 65536);
  Self::run(x, self_weights, y, *reinterpret_cast<Self::Workspace*>(memory + shift));
}
void run_self_phase(const float* x, float* y) {
  static Self::TeamWorkspace<1> team;
  Self::run(x, self_weights, y, team.part(3, {}));
}
// Runs attention with int8 weights that lack an array: the member of in_proj with the name `lacking` is null.
void run_int8(std::string_view lacking) {
  using Int8 = ladon::MultiHeadAttention<ladon::Shape{.queries = 3, .model = 2, .heads = 1}, ladon::mask::Unmasked,
                                         ladon::layout::Int8<ladon::layout::InProj>>;
  static Int8::Workspace workspace;
  const std::array<std::int8_t, 12> weight{};
  const std::array<std::int32_t, 6> row_sum{};
  const std::array<float, 6> floats{};
  std::array<float, 6> y{};
  Int8::Weights weights{.in_proj = {weight, floats, row_sum, floats},
                        .out_proj = {weight.data(), floats.data(), row_sum.data(), floats.data()}};
  if (lacking == "weight") weights.in_proj.weight = {};
  if (lacking == "scale") weights.in_proj.scale = {};
  if (lacking == "row_sum") weights.in_proj.row_sum = {};
  if (lacking == "bias") weights.in_proj.bias = {};
  Int8::run(floats, weights, y, workspace);
}
alignas(64) unsigned char workspace_memory[65536];

}  // namespace

int main(int, char** arguments) {
  using namespace ladon::mask;
  std::signal(SIGABRT, [](int) { std::_Exit(1); });  // the message is the result; CTest counts a crash as a failure
  const std::string_view broken(arguments[1]);
  const std::array<std::uint8_t, 12> pairs{};
  const std::array<float, 12> values{};
#line 1000  // the test `queries` expects this number
  if (broken == "queries") run<Unmasked>({.queries = 4});
  if (broken == "beside_unchecked") {
    std::fprintf(stderr, "%zu queries, unchecked\n", ladon_test::unchecked_queries());
    ladon_test::queries_of_too_many();
  }
  if (broken == "unknown_caller") {  // without an initialiser, the message names run_options.hpp instead of the caller
    Attention<Unmasked>::Options options;
    options.keys = 5;
    run<Unmasked>(options);
  }
  if (broken == "keys") run<Unmasked>({.keys = 5});
  if (broken == "tokens") run<Unmasked>({.tokens = 4});
  if (broken == "tokens_below_none") run<Unmasked>({.tokens = std::size_t{0} - 1});
  if (broken == "tokens_as_keys") run<Unmasked>({.tokens = 5, .queries = 1});
  if (broken == "cache") {
    Projected<Causal> text;
    text.extend({});
    text.extend({.tokens = 2});
  }
  if (broken == "full_cache") {  // allowed: the cache has room for the token
    Projected<Causal> text;
    text.extend({});
    text.extend({.tokens = 1});
  }
  if (broken == "attended_keys") {
    Projected<Unmasked> memory;
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
  if (broken == "no_relative_table") {
    Projected<ladon::mask::Relative> text;
    text.extend({});
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
  if (broken == "phase") Projected<Unmasked>().run_part(3, {});
  if (broken == "share") Projected<Unmasked>().run_part(0, {.index = 2, .count = 2});
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
  if (broken == "self_phase") run_self_phase(x.data(), y.data());
  if (broken == "output_is_keys") run_with_output_in("keys");
  if (broken == "output_is_values") run_with_output_in("values");
  if (broken == "output_in_workspace") run_with_output_in("workspace");
  if (broken.starts_with("int8_no_")) run_int8(broken.substr(8));
  if (broken == "quantise_null") {
    std::array<float, 2> scale{};
    ladon::quantise(ladon::Linear<2, 2>{values.data(), values.data()}, static_cast<std::int8_t*>(nullptr), scale);
  }
  if (broken == "quantise") {  // allowed: no pointer is null
    std::array<std::int8_t, 4> weight{};
    std::array<float, 2> scale{};
    ladon::quantise(ladon::Linear<2, 2>{values.data(), values.data()}, weight, scale);
  }
  if (broken == "null_context") Projected<Unmasked>().run_part(0, {}, nullptr);
  if (broken == "extend_y") {
    static Projected<Causal> text;
    text.y_given = text.cache.keys[0].data;
    text.extend({});
  }
  if (broken == "attend_y") {
    static Projected<Unmasked> memory;
    memory.project({});
    memory.y_given = memory.cache.keys[0].data;
    memory.attend({});
  }
  if (broken == "convolution_rows") convolve(x.data(), 7, y.data());
  if (broken == "convolution_in_place") convolve(x.data(), 6, x.data());
  if (broken == "convolution") convolve(x.data(), 6, y.data());  // allowed
  if (broken == "masked_series") read_series(x.data(), 7, y.data());
  if (broken == "empty_text") divide({3, 0, 2});
  if (broken == "empty_first_text") divide({0, 2});
  if (broken == "texts") divide({3, 1, 2});  // allowed
  if (broken == "texts_of_a_call") run_texts({2, 3});
  if (broken == "first_position") run_before_the_first_position();
  ladon_test::break_in_a_stack(broken);
  std::puts("no check failed");
  return 0;
}
