// Tests the patches of images and of videos.
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

#include <ladon/model/patches.hpp>

#include "support/window_check.hpp"

namespace {

using ladon::PatchModel;

// Element (frame, channel, row, column) of an image.
template <PatchModel P>
float pixel(const std::vector<float>& image, std::size_t frame, std::size_t channel, std::size_t row,
            std::size_t column) {
  const std::size_t plane = (frame * P.channels + channel) * P.rows * P.columns;
  return image[plane + (P.transposed ? column * P.rows + row : row * P.columns + column)];
}

// The numbers of one patch, whose first pixel is (frame, row, column), in the order of the weights.
template <PatchModel P>
void add_patch(const std::vector<float>& image, std::size_t frame, std::size_t row, std::size_t column,
               std::vector<float>& to) {
  for (std::size_t channel = 0; channel < P.channels; ++channel) {
    for (std::size_t f = 0; f < P.patch_frames; ++f) {
      for (std::size_t r = 0; r < P.patch_rows; ++r) {
        for (std::size_t c = 0; c < P.patch_columns; ++c) {
          to.push_back(pixel<P>(image, frame + f, channel, row + r, column + c));
        }
      }
    }
  }
}

template <PatchModel P>
void check_patches() {
  CAPTURE(P.rows);
  CAPTURE(P.columns);
  using Part = ladon::PatchEmbedding<P>;
  const std::vector<float> image = ladon_test::random_floats(P.frames * P.channels * P.rows * P.columns, P.rows);
  const std::size_t row_stride = P.stride_rows == 0 ? P.patch_rows : P.stride_rows;
  const std::size_t column_stride = P.stride_columns == 0 ? P.patch_columns : P.stride_columns;
  std::vector<float> patches;
  for (std::size_t frame = 0; frame < P.frames; frame += P.patch_frames) {
    for (std::size_t row = 0; row + P.patch_rows <= P.rows; row += row_stride) {
      for (std::size_t column = 0; column + P.patch_columns <= P.columns; column += column_stride) {
        add_patch<P>(image, frame, row, column, patches);
      }
    }
  }
  constexpr std::size_t size = P.channels * P.patch_frames * P.patch_rows * P.patch_columns;
  REQUIRE(patches.size() == P.patches() * size);
  constexpr ladon_test::WindowSizes sizes{P.patches(), P.model, size};
  ladon_test::check_windows<Part, sizes>(
      patches, [&](const auto& weights, float* y, auto& workspace) { Part::run(image.data(), weights, y, workspace); });
}

}  // namespace

TEST_CASE("PatchEmbedding: square patches of an image") {
  check_patches<PatchModel{
      .channels = 3, .rows = 32, .columns = 32, .patch_rows = 4, .patch_columns = 4, .model = 33}>();
}
TEST_CASE("PatchEmbedding: a remainder of rows and columns, and strides that differ from the patch") {
  check_patches<PatchModel{
      .channels = 2, .rows = 14, .columns = 20, .patch_rows = 5, .patch_columns = 3, .model = 6}>();
  check_patches<PatchModel{.channels = 1,
                           .rows = 13,
                           .columns = 17,
                           .patch_rows = 5,
                           .patch_columns = 3,
                           .stride_rows = 4,
                           .stride_columns = 2,
                           .model = 7,
                           .bias = ladon::Bias::without}>();
  check_patches<PatchModel{.channels = 2,
                           .rows = 9,
                           .columns = 11,
                           .patch_rows = 2,
                           .patch_columns = 1,
                           .stride_rows = 3,
                           .stride_columns = 4,
                           .model = 5}>();
}
TEST_CASE("PatchEmbedding: a spectrogram that is stored as [columns][rows]") {
  check_patches<PatchModel{.channels = 1,
                           .rows = 24,
                           .columns = 37,
                           .patch_rows = 16,
                           .patch_columns = 16,
                           .stride_rows = 4,
                           .stride_columns = 5,
                           .model = 9,
                           .transposed = true}>();
  check_patches<PatchModel{.frames = 4,
                           .channels = 2,
                           .rows = 7,
                           .columns = 9,
                           .patch_frames = 2,
                           .patch_rows = 3,
                           .patch_columns = 2,
                           .model = 5,
                           .transposed = true}>();
}
TEST_CASE("PatchEmbedding: several frames, as in VideoMAE") {
  check_patches<PatchModel{.frames = 4,
                           .channels = 3,
                           .rows = 32,
                           .columns = 48,
                           .patch_frames = 2,
                           .patch_rows = 16,
                           .patch_columns = 16,
                           .model = 10}>();
  check_patches<PatchModel{.frames = 9,
                           .channels = 1,
                           .rows = 5,
                           .columns = 4,
                           .patch_frames = 3,
                           .patch_rows = 2,
                           .patch_columns = 2,
                           .model = 3}>();
}
TEST_CASE("PatchEmbedding: a single patch, and a single row of patches") {
  check_patches<PatchModel{.channels = 3, .rows = 5, .columns = 7, .patch_rows = 5, .patch_columns = 7, .model = 6}>();
  check_patches<PatchModel{.channels = 3, .rows = 1, .columns = 19, .patch_rows = 1, .patch_columns = 1, .model = 4}>();
}
TEST_CASE("PatchEmbedding: bfloat16 and int8 weights") {
  constexpr auto with = [](ladon::PrecisionKind precision) {
    return PatchModel{.channels = 3,
                      .rows = 20,
                      .columns = 24,
                      .patch_rows = 4,
                      .patch_columns = 4,
                      .model = 7,
                      .precision = precision};
  };
  check_patches<with(ladon::PrecisionKind::bfloat16)>();
  check_patches<with(ladon::PrecisionKind::int8)>();
  check_patches<with(ladon::PrecisionKind::rotated_int8)>();
}
