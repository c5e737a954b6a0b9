// SPDX-License-Identifier: Apache-2.0
// A convolution over rows, as PyTorch's Conv1d, but with the features of a row adjacent in memory:
//     y[t][o] = bias[o] + sum over i, k of weight[o][i][k] * x[t * stride + k - before][first input of o's group + i]
//
// Rows before and behind `x` are 0. Output o belongs to group o / (outputs / groups).
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

#include <ladon/checks.hpp>
#include <ladon/detail/layer/model_types.hpp>
#include <ladon/detail/panel/windows.hpp>
#include <ladon/detail/product/row_product.hpp>
#include <ladon/views.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE {

struct ConvolutionModel {
  std::size_t length = 0;  // the largest number of rows of x
  std::size_t inputs = 0, outputs = 0;
  std::size_t width = 1, stride = 1;   // in rows of x
  std::size_t before = 0, behind = 0;  // rows of zeros
  std::size_t groups = 1;
  Bias bias = Bias::with;
  PrecisionKind precision = PrecisionKind::float32;
  int activation_bits = 8;  // as in Model

  // The number of rows of y for `rows` rows of x.
  constexpr std::size_t length_of(std::size_t rows) const noexcept {
    const std::size_t padded = rows + before + behind;
    return padded < width ? 0 : (padded - width) / stride + 1;
  }
};

template <ConvolutionModel C>
struct Convolution {
  // Conditions have names, because clang++ 14 prints a whole condition before its message.
  static constexpr bool has_sizes = C.inputs > 0 && C.outputs > 0 && C.width > 0 && C.stride > 0;
  static_assert(has_sizes, "ladon: a convolution needs inputs, outputs, a width and a stride");
  static constexpr bool groups_divide = C.groups > 0 && C.inputs % C.groups == 0 && C.outputs % C.groups == 0;
  static_assert(groups_divide, "ladon: groups must divide the inputs and the outputs of a convolution");
  static constexpr bool fits = C.length_of(C.length) > 0;
  static_assert(fits, "ladon: the width of a convolution exceeds its longest padded input");
  static constexpr ConvolutionModel model = C;
  static constexpr std::size_t window = C.inputs / C.groups * C.width, most_rows = C.length_of(C.length);
  using Precision = typename PrecisionOf<C.precision, C.activation_bits>::Type;
  // PyTorch's weight [outputs][inputs / groups][width].
  using Weights = Linear<C.outputs, window, Order::out_in, C.bias, Precision>;
  using Product = detail::RowProduct<detail::RowProductSizes{most_rows, C.outputs, window, C.groups}, Precision>;
  using Workspace = typename Product::Workspace;

  // Computes `y` [length_of(rows)][outputs] from `x` [rows][inputs]. `y` must not overlap `x`. Precondition: rows <=
  // length.
  static constexpr void run(MatrixView<const float, C.length, C.inputs> x, std::size_t rows, const Weights& weights,
                            MatrixView<float, most_rows, C.outputs> y, Workspace& workspace) noexcept {
    const std::size_t tokens = C.length_of(rows);
    [[maybe_unused]] const auto caller = detail::caller_of(weights);
    LADON_EXPECTS(rows <= C.length, "ladon: more rows than the convolution has room for", caller,
                  {{"rows", rows}, {"length", C.length}});
    detail::expect_memory(caller, {{y.data, tokens * C.outputs}, {}, {{x.data, rows * C.inputs}}}, workspace);
    Product::run(
        [&]<class Pack, detail::PanelLayout P>(std::size_t group, Range range, float* panels) {
          detail::windows_to_panels<Pack, P, window>(Windows{{x.data, rows * C.inputs}, group}, range, panels);
          return panels;
        },
        weights, tokens, y.data, workspace);
  }

 private:
  // The features of a row of a window are adjacent. Without groups, the rows of a window are adjacent, too.
  struct Windows {
    static constexpr std::size_t inputs = C.inputs / C.groups, run = C.groups == 1 ? C.width * inputs : inputs;
    detail::PaddedNumbers numbers;
    std::size_t group;

    constexpr std::ptrdiff_t start(std::size_t token) const noexcept {
      return static_cast<std::ptrdiff_t>(token * C.stride * C.inputs + group * inputs) -
             static_cast<std::ptrdiff_t>(C.before * C.inputs);
    }
    static constexpr std::ptrdiff_t offset(std::size_t r) noexcept { return static_cast<std::ptrdiff_t>(r * C.inputs); }
    static constexpr std::size_t feature(std::size_t n) noexcept { return n % inputs * C.width + n / inputs; }
  };
};

// Computes the weight of a convolution with a norm for each tap (PyTorch's weight_norm with dim=2, in wav2vec 2.0):
//     weight[o][i][k] = length[k] * direction[o][i][k] / sqrt(sum over o, i of direction[o][i][k]^2)
// `direction` and `weight` are [outputs][inputs / groups][width], and may be the same array. A tap of zeros stays 0.
template <ConvolutionModel C>
constexpr void fold_weight_norm(TensorView<const float, C.outputs, C.inputs / C.groups, C.width> direction,
                                VectorView<const float, C.width> length,
                                TensorView<float, C.outputs, C.inputs / C.groups, C.width> weight) noexcept {
  constexpr std::size_t of_output = C.inputs / C.groups * C.width, size = C.outputs * of_output;
  for (std::size_t k = 0; k < C.width; ++k) {
    float sum = 0;
    for (std::size_t first = 0; first < size; first += of_output) {
      float squares = 0;  // of one output: shorter sums have smaller rounding errors
      for (std::size_t i = first + k; i < first + of_output; i += C.width) {
        squares += detail::vec::unfused(direction.data[i] * direction.data[i]);
      }
      sum += squares;
    }
    const float factor = sum > 0 ? length.data[k] / detail::vec::sqrt_scalar(sum) : 0.0f;
    for (std::size_t i = k; i < size; i += C.width) weight.data[i] = factor * direction.data[i];
  }
}

// Writes to[c][r] = from[r][c]. The arrays must not overlap.
constexpr void transpose(std::size_t rows, std::size_t columns, const float* from, float* to) noexcept {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
  }
}

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
