// The WebAssembly module with the parts of the keyword spotter (examples/keywords) outside the encoder: the front end,
// the embedding and the classifier. The module imports nothing. Each exported function without an argument returns the
// address of an array of floats in the memory of the module.
#include <algorithm>

#include "front_end.hpp"
#include "model.hpp"

namespace {

using namespace keywords;

FrontEnd front_end;
std::array<float, window_length> samples;
std::array<float, frame_count * coefficients> features;
std::array<float, frame_count * mel_bands> bands;
std::array<float, token_count * model_width> x;
std::array<float, model_width> y;
std::array<float, label_count> logits;

// The tensors of the model's file that the encoder does not use, one after another.
struct Tensors {
  std::array<float, model_width> class_token;
  std::array<float, token_count * model_width> position;
  std::array<float, model_width * coefficients> embed_weight;
  std::array<float, model_width> embed_bias;
  std::array<float, label_count * model_width> head_weight;
  std::array<float, label_count> head_bias;
} tensors;

}  // namespace

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

// Returns the samples, [window_length]: the input of compute_features.
EXPORT(samples) float* keywords_samples() { return samples.data(); }
// Returns the features, [frame_count][coefficients]: the input of compute_x.
EXPORT(features) float* keywords_features() { return features.data(); }
// Returns the natural logarithms of the mel bands of the frames, [frame_count][mel_bands], for pictures.
EXPORT(bands) float* keywords_bands() { return bands.data(); }
// Returns the tensors, in the order of the struct Tensors.
EXPORT(tensors) float* keywords_tensors() { return tensors.class_token.data(); }
// Returns y, [model_width]: the row of the class token after the last layer, which is the input of compute_logits.
EXPORT(y) float* keywords_y() { return y.data(); }

// `rows` has frame_count rows. Drops the first `count` rows, and moves the other rows to the front. Returns a pointer
// to the last `count` rows, into which the caller writes new values.
template <std::size_t Size>
float* make_room(std::array<float, Size>& rows, std::size_t count) {
  const std::size_t values = count * (Size / frame_count);
  std::copy(rows.begin() + static_cast<std::ptrdiff_t>(values), rows.end(), rows.begin());
  return rows.data() + Size - values;
}

// Computes `frames` new frames from the samples. `frames` is at most frame_count. The arrays of features and bands lose
// their oldest frames, and the new frames follow at the end.
EXPORT(compute_features) void keywords_compute_features(std::size_t frames) {
  front_end.compute(samples.data(), frames, make_room(features, frames), make_room(bands, frames));
}

// Computes the input of the encoder, [token_count][model_width], from the features.
EXPORT(compute_x) float* keywords_compute_x() {
  embed(features.data(),
        {tensors.class_token.data(), tensors.position.data(), tensors.embed_weight.data(), tensors.embed_bias.data()},
        x.data());
  return x.data();
}

// Computes the logits [label_count] from y.
EXPORT(compute_logits) float* keywords_compute_logits() {
  ladon::linear(Head{.weight = tensors.head_weight, .bias = tensors.head_bias}, y, logits);
  return logits.data();
}
