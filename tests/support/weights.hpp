// Weights for the tests: made at random, and laid out as each layout wants them.
#pragma once

#include <cstddef>
#include <vector>

#include "guarded_run.hpp"
#include "oracle.hpp"
#include "random.hpp"
#include "subject.hpp"

namespace ladon_test {

// Outputs of unit size from inputs of unit size, times gain; biases large enough to be missed.
oracle::Linear random_linear(Random& random, std::size_t out, std::size_t in, double gain = 1);
oracle::AttentionWeights random_attention(Random& random, const ladon::Shape& shape);
oracle::Norm random_norm(Random& random, std::size_t size, const ladon::LayerConfig& config, float epsilon);
oracle::LayerWeights random_layer(Random& random, const ladon::Shape& shape, const ladon::LayerConfig& config,
                                  float epsilon);

oracle::DecoderLayerWeights random_decoder_layer(Random& random, const ladon::Shape& shape,
                                                 const ladon::LayerConfig& config, float epsilon);

// Takes the biases out that a layout has not.
void drop_biases(oracle::AttentionWeights& weights, ladon::Bias projections, ladon::Bias output);

// Makes the weights of all linear maps int8, for inputs of `activation_bits` bits. If `activation_bits` is
// bfloat16_weights, rounds the weights to bfloat16.
void quantise(oracle::Linear& linear, int activation_bits);
void quantise(oracle::AttentionWeights& weights, int activation_bits);
void quantise(oracle::LayerWeights& weights, int activation_bits);
void quantise(oracle::DecoderLayerWeights& weights, int activation_bits);

// The tensors in the order in which Call::weights takes them. Appended, so that layers can follow one another.
void append_tensors(std::vector<Floats>& tensors, WeightLayout layout, const ladon::Shape& shape,
                    const oracle::AttentionWeights& weights);
void append_tensors(std::vector<Floats>& tensors, WeightLayout layout, const ladon::Shape& shape,
                    const oracle::LayerWeights& weights);
void append_tensors(std::vector<Floats>& tensors, WeightLayout layout, const ladon::Shape& shape,
                    const oracle::DecoderLayerWeights& weights);
void append_tensors(std::vector<Floats>& tensors, const oracle::Norm& norm);

oracle::Heads heads_of(const ladon::Shape& shape);

}  // namespace ladon_test
