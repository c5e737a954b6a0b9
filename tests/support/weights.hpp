// Makes random weights for the tests, and arranges their tensors in each layout.
#pragma once

#include <cstddef>
#include <vector>

#include "guarded_run.hpp"
#include "oracle.hpp"
#include "random.hpp"
#include "subject.hpp"

namespace ladon_test {

// Returns a linear map with random weights. If the inputs have the variance 1, the outputs without their biases have
// the standard deviation `gain`. The biases have the standard deviation 0.5, so a missing bias breaks the bound
// (bound.hpp).
oracle::Linear random_linear(Random& random, std::size_t out, std::size_t in, double gain = 1);
oracle::AttentionWeights random_attention(Random& random, const ladon::Shape& shape);
void add_norms(Random& random, oracle::AttentionWeights& weights, const ladon::Shape& shape,
               ladon::QueryKeyNormKind kind, float epsilon = 1e-5f, ladon::NormGain gain = ladon::NormGain::weight);
// Returns a random norm of the kind config.norm_kind, or of the kind of the feed-forward network's norms.
oracle::Norm random_norm(Random& random, std::size_t size, const ladon::Model& config, float epsilon,
                         bool of_feed_forward = false);
oracle::LayerWeights random_layer(Random& random, const ladon::Shape& shape, const ladon::Model& config, float epsilon);

oracle::DecoderLayerWeights random_decoder_layer(Random& random, const ladon::Shape& shape, const ladon::Model& config,
                                                 float epsilon);

// Removes the biases of queries, keys and values if `projections` is Bias::without. Removes the bias of the output
// projection if `output` is Bias::without.
void drop_biases(oracle::AttentionWeights& weights, ladon::Bias projections, ladon::Bias output);

// Makes the weights of all linear maps int8, for inputs of `activation_bits` bits. If `activation_bits` is
// bfloat16_weights or bfloat16_products (subject.hpp), rounds the weights to bfloat16.
void quantise(oracle::Linear& linear, int activation_bits);
void quantise(oracle::AttentionWeights& weights, int activation_bits);
void quantise(oracle::LayerWeights& weights, int activation_bits);
void quantise(oracle::DecoderLayerWeights& weights, int activation_bits);

// Appends the tensors of the weights to `tensors`, in the order of Call::weights. The caller may append further layers.
void append_tensors(std::vector<Floats>& tensors, WeightLayout layout, const ladon::Shape& shape,
                    const oracle::AttentionWeights& weights);
void append_tensors(std::vector<Floats>& tensors, WeightLayout layout, const ladon::Shape& shape,
                    const oracle::LayerWeights& weights);
void append_tensors(std::vector<Floats>& tensors, WeightLayout layout, const ladon::Shape& shape,
                    const oracle::DecoderLayerWeights& weights);
void append_tensors(std::vector<Floats>& tensors, const oracle::Norm& norm);
void append_tensors(std::vector<Floats>& tensors, const oracle::Linear& linear, ladon::Order order);

oracle::Heads heads_of(const ladon::Shape& shape);

}  // namespace ladon_test
