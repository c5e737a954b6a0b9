// Checks one instantiation of MultiHeadAttention, or of Attention, against the oracle in every variation.
#pragma once

#include "guarded_run.hpp"
#include "oracle.hpp"
#include "subject.hpp"
#include "variation.hpp"
#include "weights.hpp"

namespace ladon_test {

// Self-attention where queries and keys are as many, and keys from elsewhere.
void check_attention(const Subject& subject);

// Self-attention only.
void check_self(const Subject& subject);

// Only keys from elsewhere.
void check_cross(const Subject& subject);

// q, k and v given.
void check_given(const Subject& subject);
void check_given(const Subject& subject, const Variation& variation, std::uint64_t seed = 1);

// Checks one variation of one problem. First overwrites everything that no query may see by NaN and infinities.
struct AttentionProblem;
struct GivenProblem;
void check_problem(const Subject& subject, Variation variation, AttentionProblem problem);
void check_problem(const Subject& subject, Variation variation, GivenProblem given);

// The parts, for tests that change one of them.
struct AttentionProblem {
  oracle::AttentionWeights weights;
  Floats x;                // [queries][model]
  Floats context;          // [keys][key_model]; empty in self-attention
  Floats value_context{};  // [keys][value_model]; empty where values come from where keys do
};
AttentionProblem random_problem(const ladon::Shape& shape, bool cross, std::uint64_t seed);
// The same, with int8 weights if the subject has them.
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

// The map of some heads: probabilities where a query is active, nothing elsewhere.
Expected expected_map(const ladon::Shape& shape, const std::vector<oracle::Matrix>& weights);

// Whether a query sees a NaN. Such a query has no probabilities: each of its keys may have the weight NaN or 0.
bool sees_nan(const oracle::Matrix& weights, std::size_t query);
// What agrees with any weight.
Real any_weight();

// The scores of some heads in natural units; `beyond` where a query is active and a key is not.
Expected expected_scores(const ladon::Shape& shape, const std::vector<oracle::Matrix>& scores, double beyond);

// What a task takes of a variation.
void append_variation(Task& task, const Subject& subject, const Variation& variation);

// Runs it, and holds the output, the map, its sums, and every stage that can be captured against the oracle.
Outcome check_run(const Subject& subject, const Task& task, const Variation& variation,
                  const ExpectedAttention& expected);

// Each row of a map sums to 1, or is 0 where its query sees nothing.
void check_row_sums(const Floats& map, const Subject& subject, const Variation& variation);

}  // namespace ladon_test
