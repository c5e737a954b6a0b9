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

// q, k and v given.
void check_given(const Subject& subject);

// The parts, for tests that change one of them.
struct AttentionProblem {
  oracle::AttentionWeights weights;
  Floats x;        // [queries][model]
  Floats context;  // [keys][model]; empty in self-attention
};
AttentionProblem random_problem(const ladon::Shape& shape, bool cross, std::uint64_t seed);
Task task_of(const Subject& subject, const AttentionProblem& problem, const Variation& variation);

struct ExpectedAttention {
  Expected y;
  Expected map;
};
ExpectedAttention expected_attention(const Subject& subject, const AttentionProblem& problem,
                                     const Variation& variation, const oracle::Heads& heads);

// The map of some heads: probabilities where a query is active, nothing elsewhere.
Expected expected_map(const ladon::Shape& shape, const std::vector<oracle::Matrix>& weights);

// Each row of a map sums to 1, or is 0 where its query sees nothing.
void check_row_sums(const Floats& map, const ladon::Shape& shape, std::size_t queries, const oracle::MaySee& may_see);

}  // namespace ladon_test
