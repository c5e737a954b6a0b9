// SPDX-License-Identifier: Apache-2.0
// Converts patches of an image or a video to tokens by a convolution (arXiv 2010.11929). Its stride is often the patch
// size. Tokens are in the order [frames / patch_frames][grid_rows()][grid_columns()].
#pragma once

#include <ladon/detail/config/quiet_begin.hpp>

#include <cstddef>

#include <ladon/detail/layer/model_types.hpp>
#include <ladon/detail/panel/windows.hpp>
#include <ladon/detail/product/row_product.hpp>
#include <ladon/views.hpp>
#include <ladon/weights.hpp>

namespace LADON_NAMESPACE {

struct PatchModel {
  std::size_t frames = 1, channels = 3, rows = 0, columns = 0;
  std::size_t patch_frames = 1, patch_rows = 0, patch_columns = 0;
  std::size_t stride_rows = 0, stride_columns = 0;  // between patches; default: the size of a patch
  std::size_t model = 0;                            // width of a token
  Bias bias = Bias::with;
  bool transposed = false;  // the caller stores each channel of a frame as [columns][rows]
  PrecisionKind precision = PrecisionKind::float32;
  int activation_bits = 8;  // as in Model

  constexpr std::size_t row_distance() const noexcept { return stride_rows == 0 ? patch_rows : stride_rows; }
  constexpr std::size_t column_distance() const noexcept {
    return stride_columns == 0 ? patch_columns : stride_columns;
  }
  constexpr std::size_t grid_rows() const noexcept { return (rows - patch_rows) / row_distance() + 1; }
  constexpr std::size_t grid_columns() const noexcept { return (columns - patch_columns) / column_distance() + 1; }
  constexpr std::size_t patches() const noexcept { return frames / patch_frames * grid_rows() * grid_columns(); }
  constexpr std::size_t patch_size() const noexcept { return channels * patch_frames * patch_rows * patch_columns; }
};

template <PatchModel P>
struct PatchEmbedding {
  static constexpr bool has_sizes = P.channels > 0 && P.model > 0 && P.patch_size() > 0;
  static_assert(has_sizes, "ladon: patches need a size, channels and a model width");
  static constexpr bool fits = P.patch_rows <= P.rows && P.patch_columns <= P.columns;
  static_assert(fits, "ladon: a patch exceeds the image");
  static constexpr bool frames_divide = P.frames > 0 && P.frames % P.patch_frames == 0;
  static_assert(frames_divide, "ladon: patch_frames must divide the frames");
  static constexpr PatchModel model = P;
  using Precision = typename PrecisionOf<P.precision, P.activation_bits>::Type;
  // PyTorch's weight [model][channels][patch_rows][patch_columns]; with several patch_frames:
  // [model][channels][patch_frames][patch_rows][patch_columns].
  using Weights = Linear<P.model, P.patch_size(), Order::out_in, P.bias, Precision>;
  using Product = detail::RowProduct<detail::RowProductSizes{P.patches(), P.model, P.patch_size()}, Precision>;
  using Workspace = typename Product::Workspace;

  // Computes `y` [patches][model] from `image` [frames][channels][rows][columns]. The arrays must not overlap.
  static constexpr void run(TensorView<const float, P.frames, P.channels, P.rows, P.columns> image,
                            const Weights& weights, MatrixView<float, P.patches(), P.model> y,
                            Workspace& workspace) noexcept {
    constexpr std::size_t numbers = decltype(image)::size;
    detail::expect_memory(detail::caller_of(weights), {{y.data, P.patches() * P.model}, {}, {{image.data, numbers}}},
                          workspace);
    Product::run(
        [&]<class Pack, detail::PanelLayout T>(std::size_t, Range tokens, float* panels) {
          detail::windows_to_panels<Pack, T, P.patch_size()>(Windows{{image.data, numbers}}, tokens, panels);
          return panels;
        },
        weights, P.patches(), y.data, workspace);
  }

 private:
  // A patch is [channels][frames][rows][columns], or, in a transposed image, [channels][frames][columns][rows]. The
  // last dimension is contiguous in memory.
  struct Windows {
    static constexpr std::size_t run = P.transposed ? P.patch_rows : P.patch_columns;
    static constexpr std::size_t lines = P.transposed ? P.patch_columns : P.patch_rows;  // each has `run` numbers
    static constexpr std::size_t line = P.transposed ? P.rows : P.columns, plane = P.rows * P.columns;
    detail::PaddedNumbers numbers;

    static constexpr std::ptrdiff_t start(std::size_t token) noexcept {
      constexpr std::size_t columns = P.grid_columns(), grid = columns * P.grid_rows();
      const std::size_t row = token % grid / columns * P.row_distance(), column = token % columns * P.column_distance();
      const std::size_t frame = token / grid * P.patch_frames;
      const std::size_t in_plane = P.transposed ? column * line + row : row * line + column;
      return static_cast<std::ptrdiff_t>(frame * P.channels * plane + in_plane);
    }
    static constexpr std::ptrdiff_t offset(std::size_t r) noexcept {
      const std::size_t frame = r / lines % P.patch_frames, channel = r / lines / P.patch_frames;
      return static_cast<std::ptrdiff_t>((frame * P.channels + channel) * plane + r % lines * line);
    }
    static constexpr std::size_t feature(std::size_t n) noexcept {
      if constexpr (!P.transposed) return n;
      constexpr std::size_t area = P.patch_rows * P.patch_columns;
      return n / area * area + n % P.patch_rows * P.patch_columns + n / P.patch_rows % P.patch_columns;
    }
  };
};

}  // namespace LADON_NAMESPACE
#include <ladon/detail/config/quiet_end.hpp>
