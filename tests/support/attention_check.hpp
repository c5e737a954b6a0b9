// Compares one instantiation of MultiHeadAttention, or of Attention, with the oracle (oracle.hpp) in every variation.
// subject.hpp defines the terms subject, problem, variation and task.
#pragma once

#include "guarded_run.hpp"
#include "oracle.hpp"
#include "subject.hpp"
#include "variation.hpp"
#include "weights.hpp"

namespace ladon_test {

// Checks attention to a context. If the shape has as many queries as keys, also checks self-attention.
void check_attention(const Subject& subject);

// Checks only self-attention.
void check_self(const Subject& subject);

// Checks only attention to a context.
void check_cross(const Subject& subject);

// Checks attention without projections: the caller gives queries q, keys k and values v.
void check_given(const Subject& subject);
void check_given(const Subject& subject, const Variation& variation, std::uint64_t seed = 1);

// Checks one problem in one variation. First writes NaN and infinities to all inputs that no query may see.
struct AttentionProblem;
struct GivenProblem;
void check_problem(const Subject& subject, Variation variation, AttentionProblem problem);
void check_problem(const Subject& subject, Variation variation, GivenProblem given);

// check_problem consists of the following functions, and uses the following types. Some tests call the functions one by
// one, in order to change one step.
struct AttentionProblem {
  oracle::AttentionWeights weights;
  Floats x;                // [queries][model]
  Floats context;          // [keys][key_model]; empty in self-attention
  Floats value_context{};  // [keys][value_model]; empty: the values come from `context`
};
AttentionProblem random_problem(const ladon::Shape& shape, bool cross, std::uint64_t seed);
// Returns a random problem for `subject`, with int8 weights if the subject has int8 weights.
AttentionProblem random_problem(const Subject& subject, bool cross, std::uint64_t seed);
Task task_of(const Subject& subject, const AttentionProblem& problem, const Variation& variation);

struct GivenProblem {
  Floats q;  // [heads][queries][head_width]
  Floats k;  // [kv_heads][keys][head_width]
  Floats v;  // [kv_heads][keys][value_width]
};
GivenProblem random_given(const ladon::Shape& shape, std::uint64_t seed);
Task task_of(const Subject& subject, const GivenProblem& given, const Variation& variation);

struct ExpectedAttention {
  Expected y;
  Expected map;
  Expected scaled{}, capped{}, masked{};
};
ExpectedAttention expected_attention(const Subject& subject, const AttentionProblem& problem,
                                     const Variation& variation, const oracle::Heads& heads);

ExpectedAttention expected_attention(const Subject& subject, const AttentionProblem& problem,
                                     const Variation& variation);

// Returns the expected attention weights of all heads. Rows of inactive queries are empty, because the library must not
// write these rows.
Expected expected_map(const ladon::Shape& shape, const std::vector<oracle::Matrix>& weights);

// Returns whether the oracle computes an infinite or NaN weight for a query, because a visible score is infinite or
// NaN. Each weight of this query in the library's result may then be NaN or 0.
bool sees_nan(const oracle::Matrix& weights, std::size_t query);
// Returns a Real (bound.hpp) with an infinite deviation. Any float agrees with this Real.
Real any_weight();

// Returns the expected scores of all heads in natural units. In the row of an active query, the score of an inactive
// key is the argument `beyond`.
Expected expected_scores(const ladon::Shape& shape, const std::vector<oracle::Matrix>& scores, double beyond);

// Copies the lengths and the data of a variation to a task.
void append_variation(Task& task, const Subject& subject, const Variation& variation);

// Runs a task. Compares the results with the oracle: the output, the attention weights, and the scores at every stage
// that the subject can capture. Also checks the sums of the rows of attention weights (check_row_sums).
Outcome check_run(const Subject& subject, const Task& task, const Variation& variation,
                  const ExpectedAttention& expected);

// Checks that the sum of each row of attention weights is 1, or 0 if the query sees no key.
void check_row_sums(const Floats& map, const Subject& subject, const Variation& variation);

}  // namespace ladon_test
