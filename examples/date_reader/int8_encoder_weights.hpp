// Makes int8 weights from the matrices and the embeddings in date_reader_weights.hpp. The compiler quantises the
// weights, so a program that uses only the int8 weights does not contain the float32 matrices.
#pragma once

#include <array>
#include <iterator>
#include <ladon/quantise.hpp>

#include "date_reader_weights.hpp"
#include "reader.hpp"

namespace date_reader {

template <std::size_t Out, std::size_t In>
struct Int8Matrix {
  std::array<std::int8_t, Out * In> weight{};
  std::array<float, Out> scale{};
  std::array<std::int32_t, Out> row_sum{};
};

// `quantised` calls a_weight_is_infinite_or_nan if a weight is infinite or NaN. a_weight_is_infinite_or_nan is not
// constexpr, so the compiler then reports an error that contains its name. No program calls it at run time, so it has
// no definition.
void a_weight_is_infinite_or_nan();

// Quantises a weight matrix during compilation. A weight that is infinite or NaN does not compile.
template <std::size_t Out, std::size_t In>
consteval Int8Matrix<Out, In> quantised(const std::array<float, Out * In>& weight) {
  Int8Matrix<Out, In> result;
  const ladon::Linear<Out, In, ladon::Order::out_in, ladon::Bias::without> linear{.weight = weight};
  if (!ladon::quantise(linear, result.weight, result.scale)) a_weight_is_infinite_or_nan();
  ladon::row_sums<Out, In>(result.weight, result.row_sum);
  return result;
}

// A table of embeddings: element (row, i) is about scale[row] * weight[row][i].
template <std::size_t Rows, std::size_t Size>
struct Int8Table {
  std::array<std::int8_t, Rows * Size> weight{};
  std::array<float, Rows> scale{};

  constexpr float operator()(std::size_t row, std::size_t i) const noexcept {
    return scale[row] * static_cast<float>(weight[row * Size + i]);
  }
};
template <std::size_t Rows, std::size_t Size>
consteval Int8Table<Rows, Size> quantised_table(const std::array<float, Rows * Size>& table) {
  const Int8Matrix<Rows, Size> matrix = quantised<Rows, Size>(table);
  return {matrix.weight, matrix.scale};
}

namespace int8 {
inline constexpr std::size_t model = shape.model;
inline constexpr auto layer0_in_proj = quantised<3 * model, model>(weights::layer0_in_proj_weight),
                      layer1_in_proj = quantised<3 * model, model>(weights::layer1_in_proj_weight);
inline constexpr auto layer0_out_proj = quantised<model, model>(weights::layer0_out_proj_weight),
                      layer1_out_proj = quantised<model, model>(weights::layer1_out_proj_weight);
inline constexpr auto layer0_linear1 = quantised<feed_forward, model>(weights::layer0_linear1_weight),
                      layer1_linear1 = quantised<feed_forward, model>(weights::layer1_linear1_weight);
inline constexpr auto layer0_linear2 = quantised<model, feed_forward>(weights::layer0_linear2_weight),
                      layer1_linear2 = quantised<model, feed_forward>(weights::layer1_linear2_weight);
inline constexpr auto slot = quantised_table<slots, model>(weights::slot);
inline constexpr auto character = quantised_table<std::size(weights::alphabet), model>(weights::character);
inline constexpr auto position = quantised_table<longest_text, model>(weights::position);
}  // namespace int8

template <std::size_t Out, std::size_t In>
constexpr auto linear_of(const Int8Matrix<Out, In>& matrix, const std::array<float, Out>& bias) noexcept {
  return ladon::Linear<Out, In, ladon::Order::out_in, ladon::Bias::with, ladon::precision::Int8<8>>{
      matrix.weight, matrix.scale, matrix.row_sum, bias};
}

inline constexpr EncoderOf<ladon::precision::Int8<8>>::Weights int8_encoder_weights{
    .layers = {{{.attention = {.in_proj = linear_of(int8::layer0_in_proj, weights::layer0_in_proj_bias),
                               .out_proj = linear_of(int8::layer0_out_proj, weights::layer0_out_proj_bias)},
                 .linear1 = linear_of(int8::layer0_linear1, weights::layer0_linear1_bias),
                 .linear2 = linear_of(int8::layer0_linear2, weights::layer0_linear2_bias),
                 .norm1 = {weights::layer0_norm1_weight, weights::layer0_norm1_bias},
                 .norm2 = {weights::layer0_norm2_weight, weights::layer0_norm2_bias}},
                {.attention = {.in_proj = linear_of(int8::layer1_in_proj, weights::layer1_in_proj_bias),
                               .out_proj = linear_of(int8::layer1_out_proj, weights::layer1_out_proj_bias)},
                 .linear1 = linear_of(int8::layer1_linear1, weights::layer1_linear1_bias),
                 .linear2 = linear_of(int8::layer1_linear2, weights::layer1_linear2_bias),
                 .norm1 = {weights::layer1_norm1_weight, weights::layer1_norm1_bias},
                 .norm2 = {weights::layer1_norm2_weight, weights::layer1_norm2_bias}}}},
    .norm = {weights::final_norm_weight, weights::final_norm_bias}};

// saved_bytes returns how many bytes a matrix or a table saves as int8. The matrices of linear layers have a byte for
// each weight, and a scale and a sum for each row. Embeddings have a byte for each element, and a scale for each row.
// Biases, norms and the classifier stay float32.
template <std::size_t Out, std::size_t In>
constexpr std::size_t saved_bytes(const Int8Matrix<Out, In>& matrix) noexcept {
  return Out * In * sizeof(float) - sizeof(matrix.weight) - sizeof(matrix.scale) - sizeof(matrix.row_sum);
}
template <std::size_t Rows, std::size_t Size>
constexpr std::size_t saved_bytes(const Int8Table<Rows, Size>& table) noexcept {
  return Rows * Size * sizeof(float) - sizeof(table.weight) - sizeof(table.scale);
}

}  // namespace date_reader
