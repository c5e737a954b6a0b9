// Compares one instantiation of MultiHeadAttention, or of Attention, with the oracle (oracle.hpp), for many
// combinations of lengths, masks and options. subject.hpp defines the terms subject, problem, variation and task.
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

// Checks the results for one problem (weights and inputs) in one variation (lengths, and data of masks and scores).
// First writes NaN and infinities to all inputs that no query may see.
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
// Returns a Real (a number with an error bound, bound.hpp) with which any float agrees, because its deviation is
// infinite.
Real any_weight();

// Returns the expected scores of all heads in natural units, without the factor log2(e). For an active query, the
// expected score of each inactive key is `beyond`.
Expected expected_scores(const ladon::Shape& shape, const std::vector<oracle::Matrix>& scores, double beyond);

// Appends the lengths of a variation, and its data of masks and scores, to a task.
void append_variation(Task& task, const Subject& subject, const Variation& variation);

// Runs a task. Compares the results with the oracle: the output, the attention weights, and the scores after each step
// that the subject can capture (scale, softcap, mask). Also checks the sums of the rows of attention weights
// (check_row_sums).
Outcome check_run(const Subject& subject, const Task& task, const Variation& variation,
                  const ExpectedAttention& expected);

// Checks that the sum of each row of attention weights is 1, or 0 if the query sees no key.
void check_row_sums(const Floats& map, const Subject& subject, const Variation& variation);

}  // namespace ladon_test
