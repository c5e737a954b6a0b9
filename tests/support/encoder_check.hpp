// Compares an encoder layer, or a stack of encoder layers, with the oracle (oracle.hpp) in every variation
// (variation.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "guarded_run.hpp"
#include "oracle.hpp"
#include "subject.hpp"
#include "variation.hpp"
#include "weights.hpp"

namespace ladon_test {

struct EncoderForm {
  std::size_t layers = 1;
  ladon::Model layer{.feed_forward = 1};
  ladon::Bias projections = ladon::Bias::with;  // the biases of query, key and value
  ladon::Bias output = ladon::Bias::with;       // the bias of attention's output
  bool final_norm = false;
  float epsilon = 1e-5f;
  int activation_bits = 0;  // not 0: an argument of `quantise` (weights.hpp)
};

struct EncoderProblem {
  EncoderForm form;
  std::vector<oracle::LayerWeights> layers;
  oracle::Norm final_norm;
  Floats x;  // [tokens][model]
};

EncoderProblem random_encoder(const ladon::Shape& shape, const EncoderForm& form, std::uint64_t seed);
Task task_of(const Subject& subject, const EncoderProblem& problem, const Variation& variation);

struct ExpectedEncoder {
  Expected y;
  std::vector<Expected> maps;
};
ExpectedEncoder expected_encoder(const Subject& subject, const EncoderProblem& problem, const Variation& variation);

// Checks the subject in all variations (variation.hpp), or only in the given ones.
void check_encoder(const Subject& subject, const EncoderForm& form);
void check_encoder(const Subject& subject, const EncoderForm& form, const std::vector<Variation>& variations);

}  // namespace ladon_test
