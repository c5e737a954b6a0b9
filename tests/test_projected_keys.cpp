// Tests project_keys and `attend`. project_keys projects the keys and values of a context into a cache once, and
// `attend` attends to this cache. y must be bit-identical to y of a `run` with the same context. The tokens of keys and
// values may differ in width from x (PyTorch's kdim and vdim).
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include "guarded.hpp"
#include "mask_sweep.hpp"

namespace ladon_test {

namespace {

using ladon::layout::InOut, ladon::layout::InProj, ladon::layout::PerHead, ladon::layout::SeparateQKV;
using ladon::mask::Additive, ladon::mask::Causal, ladon::mask::Unmasked, ladon::mask::Padding;

template <ladon::Shape Shape, class Mask, class Layout>
void check_same_as_run() {
  const Subject at_once = attention_subject<Shape, Mask, Layout>(), in_steps = projected_subject<Shape, Mask, Layout>();
  const AttentionProblem problem = random_problem(at_once.shape, true, 5);
  for (const Variation& variation : variations(at_once)) {
    INFO(to_string(at_once, variation));
    const Outcome expected = run_guarded(at_once, task_of(at_once, problem, variation));
    const Outcome outcome = run_guarded(in_steps, task_of(in_steps, problem, variation));
    CHECK(same_bits(outcome.y, expected.y));
    CHECK(same_bits(outcome.maps[0], expected.maps[0]));
  }
}

}  // namespace

TEST_CASE("projected keys: bit-identical to one run") {
  check_same_as_run<S{.queries = lanes + 1, .keys = 33, .model = 10, .heads = 2}, Padding, InProj>();
}

TEST_CASE("keys and values from tokens of other widths") {
  check_cross(
      projected_subject<S{.queries = lanes + 1, .keys = 33, .model = 10, .heads = 2, .key_model = 7, .value_model = 13},
                        Causal>());
}

// The tokens of keys and values lie in the same array, but differ in width. The value projection reads the array as
// rows of value_model = 13 floats. The key projection reads the first part of the array as rows of key_model = 7
// floats.
TEST_CASE("keys and values from one array that is read as tokens of two widths") {
  const Subject subject =
      projected_subject<S{.queries = lanes + 1, .keys = 33, .model = 10, .heads = 2, .key_model = 7, .value_model = 13},
                        Causal>();
  AttentionProblem problem = random_problem(subject.shape, true, 5);
  const Floats& values = problem.value_context;
  problem.context.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(problem.context.size()));
  const Task task = task_of(subject, problem, {});
  std::vector<const float*> weights;
  for (const Floats& tensor : task.weights) weights.push_back(tensor.data());
  const auto run = [&](const float* context) {
    const Guarded<std::byte> workspace(subject.workspace_bytes, Edge::begin);
    Floats y(problem.x.size());
    Call call;
    call.x = problem.x.data();
    call.context = context;
    call.value_context = values.data();
    call.weights = weights.data();
    call.y = y.data();
    call.workspace = workspace.data();
    subject.run(call);
    return y;
  };
  CHECK(same_bits(run(values.data()), run(problem.context.data())));
}

#if !defined(LADON_TEST_SET_QUICK)
TEST_CASE("projected keys: bit-identical to one run, one query or grouped heads") {
  check_same_as_run<S{.queries = 1, .keys = 33, .model = 10, .heads = 2}, Unmasked, InProj>();
  check_same_as_run<S{.queries = 5, .keys = 40, .model = 12, .heads = 4, .kv_heads = 2, .value_width = 5}, Causal,
                    PerHead>();
}

TEST_CASE("keys and values from tokens of other widths, in every layout") {
  check_cross(projected_subject<S{.queries = 5, .keys = 21, .model = 6, .heads = 2, .key_model = 1, .value_model = 40},
                                Additive, InOut>());
  check_cross(
      projected_subject<S{.queries = 3, .keys = lanes, .model = 6, .heads = 2, .key_model = 20, .value_model = 3},
                        Padding, PerHead>());
  check_cross(projected_subject<S{.queries = 1, .keys = 300, .model = 6, .heads = 2, .key_model = 9, .value_model = 4},
                                Padding>());
  // Keys and values have equal widths that differ from the width of x, so one `run` computes both.
  check_cross(attention_subject<S{.queries = 5, .keys = 21, .model = 6, .heads = 2, .key_model = 9, .value_model = 9},
                                Unmasked, SeparateQKV>());
}
#endif

}  // namespace ladon_test
