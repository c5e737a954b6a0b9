// Tests C kernels of attention without projections, which take queries, keys and values.
#include <doctest/doctest.h>

#include <cstddef>
#include <limits>

#include "attention_check.hpp"
#include "attention_subject.hpp"
#include "c_given.h"
#include "c_given_groups.h"
#include "c_given_scores.h"
#include "c_subject.hpp"
#include "each_isa.hpp"

namespace ladon_test {

namespace {

using S = ladon::Shape;

constexpr S causal_shape{.queries = C_GIVEN_QUERIES, .keys = C_GIVEN_KEYS, .model = C_GIVEN_MODEL, .heads = 3};

// Whether a kernel has DISPATCH.
template <class O>
constexpr bool has_isa = requires(O options) { options.isa; };

// Returns a Subject (the code under test) that calls the kernel `Run`. The inputs are queries q, keys k and values v. A
// Call passes q as x, k as context, and v as the first tensor of the weights.
template <S Shape, std::size_t WorkspaceBytes, class O, auto Run, int Isa = LADON_ISA_CHOSEN>
Subject c_given_subject() {
  Subject subject{};
  subject.shape = Shape.complete();
  subject.layout = WeightLayout::separate;
  subject.layers = 1;
  subject.workspace_bytes = subject.cross_workspace_bytes = WorkspaceBytes;
  subject.run = [](const Call& call) {
    O options = c_options<O>(call, Shape.complete());
    if constexpr (requires { options.isa; }) options.isa = static_cast<ladon_isa>(Isa);
    CHECK(Run(call.x, call.context, call.weights[0], call.y, call.workspace, &options) == LADON_OK);
  };
  return subject;
}

// Computes one call of c_given in `Shares` shares, as several threads would do. Computes the last share first.
template <std::size_t Shares>
ladon_status in_shares(const float* q, const float* k, const float* v, float* out, void* workspace,
                       const c_given_options* options) {
  for (std::size_t share = Shares; share-- > 0;) {
    const ladon_status status = c_given_run_phase(0, share, Shares, q, k, v, out, workspace, options);
    if (status != LADON_OK) return status;
  }
  return LADON_OK;
}

template <std::size_t Shares>
void check_shares() {
  CAPTURE(Shares);
  Subject whole = c_given_subject<causal_shape, C_GIVEN_WORKSPACE_BYTES, c_given_options, c_given_run_with>();
  Subject parts =
      c_given_subject<causal_shape, C_GIVEN_TEAM_WORKSPACE_BYTES(Shares), c_given_options, in_shares<Shares>>();
  whole.mask = parts.mask = {.causal = true};
  for (const Variation& variation : variations(whole)) {
    CAPTURE(to_string(whole, variation));
    const Task task = task_of(whole, random_given(whole.shape, 5), variation);
    const Outcome expected = run_guarded(whole, task), actual = run_guarded(parts, task);
    CHECK(same_bits(actual.y, expected.y));
    CHECK(same_bits(actual.maps[0], expected.maps[0]));
  }
}

}  // namespace

TEST_CASE("given q, k, v, every instruction set: causal with an offset at run time") {
  int found = 0;
  const auto with = [&]<int Isa, class Options = c_given_options>() {
    Options options{};
    if constexpr (has_isa<Options>) options.isa = static_cast<ladon_isa>(Isa);
    if (c_given_run_with(nullptr, nullptr, nullptr, nullptr, nullptr, &options) == LADON_UNSUPPORTED_ISA) return;
    CAPTURE(Isa);
    ++found;
    Subject subject = c_given_subject<causal_shape, C_GIVEN_WORKSPACE_BYTES, c_given_options, c_given_run_with, Isa>();
    subject.mask = {.causal = true};
    check_given(subject);
  };
  with.template operator()<LADON_ISA_CHOSEN>();
  if constexpr (has_isa<c_given_options>) {
    for_isas(with);
    CHECK(found >= 2);
  }
}

TEST_CASE("given q, k, v: grouped heads, values of another width, padding and an addend, sinks and a softcap") {
  constexpr S shape{.queries = C_GIVEN_GROUPS_QUERIES,
                    .keys = C_GIVEN_GROUPS_KEYS,
                    .model = C_GIVEN_GROUPS_MODEL,
                    .heads = 4,
                    .kv_heads = 2,
                    .head_width = 6,
                    .value_width = 3};
  Subject subject =
      c_given_subject<shape, C_GIVEN_GROUPS_WORKSPACE_BYTES, c_given_groups_options, c_given_groups_run_with>();
  subject.mask = {.padding = true, .additive_per_head = true};
  subject.score = {.softcap = 3, .sinks = true};
  check_given(subject);
}

TEST_CASE("given q, k, v: rotary embedding, and the scores before the mask") {
  using Rotary = ladon::position::Rotary<ladon::Pairing::halves, 4, 9>;
  using Attention =
      ladon::Attention<S{.queries = 5, .model = 12, .heads = 2}, ladon::mask::Unmasked, ladon::score::Scaled, Rotary>;
  Random random(4);
  const Floats q = random.normals(5 * 12), k = random.normals(5 * 12), v = random.normals(5 * 12);
  static Attention::Workspace same_workspace;
  alignas(64) static unsigned char workspace[C_GIVEN_SCORES_WORKSPACE_BYTES];
  const auto same_table = ladon::rotary_table<9, 4>();
  static c_given_scores_rotary_table table;
  REQUIRE(c_given_scores_rotary_fill(&table, 10000, 1) == LADON_OK);
  Floats out(5 * 12), expected(5 * 12), scores(2 * 5 * 5), expected_scores(2 * 5 * 5);
  c_given_scores_options options{};
  CHECK(c_given_scores_run(q.data(), k.data(), v.data(), out.data(), workspace) == LADON_NULL_OPTION);
  options.rotary = &table;
  options.rotary_offset = 4;
  options.attention = scores.data();
  REQUIRE(c_given_scores_run_with(q.data(), k.data(), v.data(), out.data(), workspace, &options) == LADON_OK);
  Attention::run(q.data(), k.data(), v.data(), expected.data(), same_workspace,
                 {.position = {.table = &same_table, .offset = 4}},
                 ladon::Capture<ladon::Stage::scaled>{expected_scores.data()});
  CHECK(out == expected);
  CHECK(scores == expected_scores);
  options.rotary_offset = 5;
  CHECK(c_given_scores_run_with(q.data(), k.data(), v.data(), out.data(), workspace, &options) ==
        LADON_LENGTH_BEYOND_SHAPE);
}

TEST_CASE("given q, k, v: every number of shares gives the bits of one call") {
  check_shares<1>();
  check_shares<2>();
  check_shares<3>();
  check_shares<7>();
}

TEST_CASE("given q, k, v: wrong arguments") {
  constexpr std::size_t queries = C_GIVEN_QUERIES * C_GIVEN_MODEL, keys = C_GIVEN_KEYS * C_GIVEN_MODEL;
  struct Arrays {
    alignas(64) unsigned char workspace[C_GIVEN_WORKSPACE_BYTES];
    float q[queries], k[keys], v[keys], out[queries], map[3 * C_GIVEN_QUERIES * C_GIVEN_KEYS];
  };
  static Arrays a{};
  const auto run_in = [](void* workspace, const float* q, const float* k, const float* v, float* out) {
    return c_given_run(q, k, v, out, workspace);
  };
  const auto run = [&](auto... arguments) { return run_in(a.workspace, arguments...); };
  CHECK(run(a.q, a.k, a.v, a.out) == LADON_OK);
  CHECK(run(a.q, a.k, a.v, a.q) == LADON_OK);
  CHECK(run(nullptr, a.k, a.v, a.out) == LADON_NULL_INPUT);
  CHECK(run(a.q, nullptr, a.v, a.out) == LADON_NULL_INPUT);
  CHECK(run(a.q, a.k, nullptr, a.out) == LADON_NULL_INPUT);
  CHECK(run(a.q, a.k, a.v, nullptr) == LADON_NULL_OUTPUT);
  CHECK(run_in(nullptr, a.q, a.k, a.v, a.out) == LADON_NULL_WORKSPACE);
  CHECK(run_in(a.workspace + 4, a.q, a.k, a.v, a.out) == LADON_MISALIGNED);
  CHECK(run(a.q, a.k, a.v, a.q + 1) == LADON_OVERLAP);
  CHECK(run(a.q, a.k, a.v, a.k) == LADON_OVERLAP);
  CHECK(run(a.q, a.k, a.v, a.v + keys - 1) == LADON_OVERLAP);
  c_given_options options{};
  const auto run_with = [&] { return c_given_run_with(a.q, a.k, a.v, a.out, a.workspace, &options); };
  options.queries = C_GIVEN_QUERIES + 1;
  CHECK(run_with() == LADON_LENGTH_BEYOND_SHAPE);
  options = {};
  options.keys = C_GIVEN_KEYS + 1;
  CHECK(run_with() == LADON_LENGTH_BEYOND_SHAPE);
  options = {};
  options.attention = a.map;
  CHECK(run_with() == LADON_OK);
  options.attention = a.v;
  CHECK(run_with() == LADON_OVERLAP);
  CHECK(c_given_run_phase(1, 0, 1, a.q, a.k, a.v, a.out, a.workspace, nullptr) == LADON_NO_SUCH_PHASE);
  CHECK(c_given_run_phase(0, 2, 2, a.q, a.k, a.v, a.out, a.workspace, nullptr) == LADON_NO_SUCH_PHASE);
}

}  // namespace ladon_test
