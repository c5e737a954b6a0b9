// SPDX-License-Identifier: Apache-2.0
// What a model computes outside its layers: lists of steps before and after a stack. Each step changes the rows
// [tokens][features] that the step before it left. The first step of an input makes the rows.
#pragma once

#include <cstddef>
#include <ladon/model.hpp>
#include <string>
#include <variant>
#include <vector>

namespace ladon::families {

// The names of tensors are the full names in the checkpoint. For a part with a weight and a bias, the name ends before
// ".weight". In a name such as "2_Dense/linear", the text before "/" is the folder of another checkpoint inside the
// model's folder (sentence-transformers).

// token ids -> rows: row `id` of the table [rows][features], times `scale`.
struct Lookup {
  std::string table;  // with ".weight"
  std::size_t rows = 0;
  std::size_t features = 0;
  float scale = 1;
};

// ESM's token_dropout: sets the rows of the token `id` to 0, and divides all other rows by the share of other tokens.
struct DropToken {
  std::size_t id = 0;
};

// Adds row `first + t` of a table [rows][features] to token t. Without a table (an empty name), the rows are sinusoids
// (arXiv 1706.03762): first all sines, then all cosines.
struct AddPositions {
  std::string table{};  // with ".weight", if the name has it
  std::size_t rows = 0;
  std::size_t first = 0;
  bool optional = false;     // a checkpoint may lack the table, which has sinusoids (Marian)
  bool interleaved = false;  // sines and cosines alternate
  // Of n sines, number i of row p has the angle p / 10000^(i / n), or p / 10000^(i / (n - 1)) if `closed` (XGLM).
  bool closed = false;
};

// Adds the row `row` of a table [rows][features] to each token. With the name of an argument in `ids`, the caller may
// give a row for each token ("token_type_ids"), and `row` is 0.
struct AddRow {
  std::string table;
  std::size_t rows = 1;
  std::size_t row = 0;
  std::string ids{};
};

// Normalises each row.
struct NormRows {
  std::string name;  // without a name: no gain
  NormKind kind = NormKind::layer;
  Bias bias = Bias::with;
  NormGain gain = NormGain::weight;
  float epsilon = 1e-5f;
};

// The function behind a linear map or a convolution.
enum class After { nothing, relu, gelu, gelu_tanh, silu, tanh };

// Applies a linear map to each row, and then a function.
struct LinearRows {
  std::string name;
  std::size_t outputs = 0;
  Bias bias = Bias::with;
  After after = After::nothing;
};

// image [frames][channels][rows][columns] -> a row for each patch: a convolution whose windows are the patches. With
// one frame, its weight is [outputs][channels][patch_rows][patch_columns]. With several frames, its weight is
// [outputs][channels][patch_frames][patch_rows][patch_columns].
struct Patches {
  std::string name{};
  std::size_t frames = 1, channels = 3, rows = 0, columns = 0;
  std::size_t patch_frames = 1, patch_rows = 0, patch_columns = 0;
  std::size_t stride_rows = 0, stride_columns = 0;  // between patches; frames have the stride patch_frames
  std::size_t outputs = 0;
  Bias bias = Bias::with;
  bool transposed = false;  // the caller gives the image as [columns][rows] (Audio Spectrogram Transformer)
};

// Puts the rows of tensors before all tokens but the first `behind`: a class token, register tokens.
struct Prepend {
  struct Rows {
    std::string tensor;
    std::size_t rows = 1;
  };
  std::vector<Rows> tensors;
  std::size_t behind = 0;
};

// numbers [frames][channels], or [channels][frames] if `transposed` -> rows: samples of a sound or of sensors, or a
// log-mel spectrogram. Only the first step of an input.
struct Frames {
  std::size_t frames = 0;  // the largest number of frames
  std::size_t channels = 1;
  bool transposed = false;
  bool exact = false;  // the model takes only `frames` frames (Whisper)
};

// A convolution over the rows, and then a function. The weight is [outputs][inputs / groups][width].
struct ConvolveRows {
  std::string name;
  std::size_t outputs = 0;
  std::size_t width = 1, stride = 1;
  std::size_t before = 0, behind = 0;  // rows of zeros before and behind all rows
  std::size_t groups = 1;
  Bias bias = Bias::with;
  After after = After::nothing;
  bool residual = false;  // the result is added to the rows (wav2vec 2.0's positions)
  // The weight is a length and a direction for each tap: name + ".parametrizations.weight.original0" and "original1".
  bool weight_norm = false;
  bool older_names = false;  // of length and direction: name + ".weight_g" and ".weight_v"
};

// Normalises the features of each of `groups` groups over all rows (arXiv 1803.08494), and then applies a function.
struct GroupNormRows {
  std::string name;
  std::size_t groups = 1;
  float epsilon = 1e-5f;
  After after = After::nothing;
};

// Applies a function to all numbers.
struct Apply {
  After function = After::nothing;
};

// time series [length] -> a row [patch] for each patch. The last patch ends with the series. With `scaled`, subtracts
// the mean of the series and divides by the root of its variance plus `minimum` before (PatchTST). A model of several
// channels computes each channel alone.
struct TimeSeriesPatches {
  std::size_t length = 0;
  std::size_t patch = 1, stride = 1;
  bool scaled = false;
  float minimum = 1e-5f;
};

// a time series as rows of one number -> a row [2 * patch] for each patch: its numbers, and its mask, which is 1 for
// each number that the first patch lacks at its front. The numbers of the first patch with at least 3 numbers get the
// mean 0 and the deviation 1, if theirs is at least `least` (TimesFM).
struct MaskedPatches {
  std::size_t patch = 1;
  float least = 1e-6f;
};

// Two layers, and a linear map of their input beside them, for each row: NAME.output_layer of the SiLU of
// NAME.input_layer, plus NAME.residual_layer (TimesFM).
struct ResidualBlock {
  std::string name;
  std::size_t hidden = 0;
  std::size_t outputs = 0;
};

// `tokens` rows from the row `from` -> one row. If `tokens` is 0, all rows from there.
enum class Pooling { mean, first, last, maximum };
struct Pool {
  Pooling pooling = Pooling::mean;
  std::size_t from = 0;
  std::size_t tokens = 0;
  bool behind_first =
      false;  // the first of all rows stands before the result: a row of twice as many features (DINOv2)
};

// All rows -> one row: the attention of a learned query, and a feed-forward network (ladon::AttentionPool, SigLIP). The
// tensors are NAME.probe, those of PyTorch's MultiheadAttention NAME.attention, NAME.layernorm, NAME.mlp.fc1 and
// NAME.mlp.fc2.
struct AttentionPool {
  std::string name;
  std::size_t heads = 1;
  std::size_t feed_forward = 0;
  Activation activation = Activation::gelu_tanh;
  float epsilon = 1e-6f;
};

// The mean of two linear maps: of row 0 by `first`, and of row 1 by `second` -> one row (DeiT's head with a teacher).
struct LinearPair {
  std::string first, second;
  std::size_t outputs = 0;
};

// Divides each row by its length (the root of its sum of squares).
struct UnitLength {};

// Multiplies each row by the table of the first Lookup, transposed: a tied head of a language model.
struct TiedHead {
  float scale = 1;
  std::string bias{};  // the full name of the tensor [rows of the table]; empty without a bias
};

// Multiplies all numbers by a factor.
struct Scale {
  float factor = 1;
};

// Replaces each number x by cap * tanh(x / cap).
struct Softcap {
  float cap = 1;
};

using Step = std::variant<Lookup, DropToken, AddPositions, AddRow, NormRows, LinearRows, Patches, Prepend, Frames,
                          ConvolveRows, GroupNormRows, Apply, TimeSeriesPatches, MaskedPatches, ResidualBlock, Pool,
                          AttentionPool, LinearPair, UnitLength, TiedHead, Scale, Softcap>;

// Returns whether the step makes one row of several.
inline bool makes_one_row(const Step& step) {
  return std::holds_alternative<Pool>(step) || std::holds_alternative<AttentionPool>(step) ||
         std::holds_alternative<LinearPair>(step);
}

// Returns the step if it adds a row for the type of each token, otherwise null.
inline const AddRow* row_of_types(const Step& step) {
  const auto* const row = std::get_if<AddRow>(&step);
  return row != nullptr && !row->ids.empty() ? row : nullptr;
}

// The steps before the layers of a stack. Without steps, `missing` says what Ladon lacks.
struct Input {
  std::string name;  // of the model's argument in transformers: "input_ids", "pixel_values", "input_features"
  std::vector<Step> steps{};
  std::string missing{};
};

}  // namespace ladon::families
