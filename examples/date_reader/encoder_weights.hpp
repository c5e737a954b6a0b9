// Makes the weights of the encoder: views of the arrays in date_reader_weights.hpp. An array of a wrong
// size does not compile.
#pragma once

#include "date_reader_weights.hpp"
#include "reader.hpp"

namespace date_reader {

inline constexpr Encoder::Weights encoder_weights{
    .layers = {{{.attention = {.in_proj = {weights::layer0_in_proj_weight, weights::layer0_in_proj_bias},
                               .out_proj = {weights::layer0_out_proj_weight, weights::layer0_out_proj_bias}},
                 .linear1 = {weights::layer0_linear1_weight, weights::layer0_linear1_bias},
                 .linear2 = {weights::layer0_linear2_weight, weights::layer0_linear2_bias},
                 .norm1 = {weights::layer0_norm1_weight, weights::layer0_norm1_bias},
                 .norm2 = {weights::layer0_norm2_weight, weights::layer0_norm2_bias}},
                {.attention = {.in_proj = {weights::layer1_in_proj_weight, weights::layer1_in_proj_bias},
                               .out_proj = {weights::layer1_out_proj_weight, weights::layer1_out_proj_bias}},
                 .linear1 = {weights::layer1_linear1_weight, weights::layer1_linear1_bias},
                 .linear2 = {weights::layer1_linear2_weight, weights::layer1_linear2_bias},
                 .norm1 = {weights::layer1_norm1_weight, weights::layer1_norm1_bias},
                 .norm2 = {weights::layer1_norm2_weight, weights::layer1_norm2_bias}}}},
    .norm = {weights::final_norm_weight, weights::final_norm_bias}};

constexpr std::size_t bytes_of(const auto&... arrays) noexcept { return (sizeof(arrays) + ...); }

inline constexpr std::size_t all_weight_bytes = bytes_of(
    weights::position, weights::slot, weights::character, weights::layer0_in_proj_weight, weights::layer0_in_proj_bias,
    weights::layer0_out_proj_weight, weights::layer0_out_proj_bias, weights::layer0_linear1_weight,
    weights::layer0_linear1_bias, weights::layer0_linear2_weight, weights::layer0_linear2_bias,
    weights::layer0_norm1_weight, weights::layer0_norm1_bias, weights::layer0_norm2_weight, weights::layer0_norm2_bias,
    weights::layer1_in_proj_weight, weights::layer1_in_proj_bias, weights::layer1_out_proj_weight,
    weights::layer1_out_proj_bias, weights::layer1_linear1_weight, weights::layer1_linear1_bias,
    weights::layer1_linear2_weight, weights::layer1_linear2_bias, weights::layer1_norm1_weight,
    weights::layer1_norm1_bias, weights::layer1_norm2_weight, weights::layer1_norm2_bias, weights::final_norm_weight,
    weights::final_norm_bias, weights::classifier_weight, weights::classifier_bias);

}  // namespace date_reader
