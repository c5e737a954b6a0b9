// `judge COUNT` checks the output of the firmware date_reader for COUNT texts. `judge COUNT int8` checks the output of
// date_reader_int8. The firmware must run with the argument `exact`, and `judge` reads its output from standard input.
// The dates must equal the dates that the same code finds on the host. Each probability of a digit must agree with the
// oracle, which computes the model in float64 and also computes the error that float32 may have
// (tests/support/bound.hpp).
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "answers.hpp"
#include "encoder_weights.hpp"
#include "int8_encoder_weights.hpp"
#include "oracle.hpp"

namespace date_reader {
namespace {

namespace oracle = ladon_test::oracle;
namespace w = weights;
using ladon_test::Real;

template <std::size_t N>
std::vector<float> vector_of(const std::array<float, N>& values) {
  return {values.begin(), values.end()};
}

template <std::size_t N, std::size_t M>
oracle::Linear oracle_of(const std::array<float, N>& weight, const std::array<float, M>& bias) {
  return {.out = M, .in = N / M, .weight = vector_of(weight), .bias = vector_of(bias)};
}

template <std::size_t Out, std::size_t In>
oracle::Linear oracle_of(const Int8Matrix<Out, In>& matrix, const std::array<float, Out>& bias) {
  return {.out = Out,
          .in = In,
          .weight = {matrix.weight.begin(), matrix.weight.end()},
          .bias = vector_of(bias),
          .activation_bits = 8,
          .scale = {matrix.scale.begin(), matrix.scale.end()}};
}

// Returns a part of a linear map: `count` rows of its matrix, from row `first` on, with their biases and scales.
oracle::Linear rows_of(const oracle::Linear& linear, std::size_t first, std::size_t count) {
  const auto part = [](const std::vector<float>& values, std::size_t from, std::size_t size) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(from);
    return values.empty() ? values : std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(size));
  };
  return {.out = count,
          .in = linear.in,
          .weight = part(linear.weight, first * linear.in, count * linear.in),
          .bias = part(linear.bias, first, count),
          .activation_bits = linear.activation_bits,
          .scale = part(linear.scale, first, count)};
}

oracle::AttentionWeights attention_of(const oracle::Linear& in, oracle::Linear output) {
  constexpr std::size_t model = shape.model;
  return {rows_of(in, 0, model), rows_of(in, model, model), rows_of(in, 2 * model, model), std::move(output)};
}

std::vector<oracle::LayerWeights> layer_weights(bool is_int8) {
  const auto choose = [&](const auto& matrix, const auto& weight, const auto& bias) {
    return is_int8 ? oracle_of(matrix, bias) : oracle_of(weight, bias);
  };
  oracle::LayerWeights first, second;
  first.attention = attention_of(choose(int8::layer0_in_proj, w::layer0_in_proj_weight, w::layer0_in_proj_bias),
                                 choose(int8::layer0_out_proj, w::layer0_out_proj_weight, w::layer0_out_proj_bias));
  first.linear1 = choose(int8::layer0_linear1, w::layer0_linear1_weight, w::layer0_linear1_bias);
  first.linear2 = choose(int8::layer0_linear2, w::layer0_linear2_weight, w::layer0_linear2_bias);
  first.norm1 = {vector_of(w::layer0_norm1_weight), vector_of(w::layer0_norm1_bias)};
  first.norm2 = {vector_of(w::layer0_norm2_weight), vector_of(w::layer0_norm2_bias)};
  second.attention = attention_of(choose(int8::layer1_in_proj, w::layer1_in_proj_weight, w::layer1_in_proj_bias),
                                  choose(int8::layer1_out_proj, w::layer1_out_proj_weight, w::layer1_out_proj_bias));
  second.linear1 = choose(int8::layer1_linear1, w::layer1_linear1_weight, w::layer1_linear1_bias);
  second.linear2 = choose(int8::layer1_linear2, w::layer1_linear2_weight, w::layer1_linear2_bias);
  second.norm1 = {vector_of(w::layer1_norm1_weight), vector_of(w::layer1_norm1_bias)};
  second.norm2 = {vector_of(w::layer1_norm2_weight), vector_of(w::layer1_norm2_bias)};
  return {first, second};
}

// Returns element (row, i) of a table of embeddings.
template <std::size_t Rows, std::size_t Size, std::size_t N>
Real element(bool is_int8, const Int8Table<Rows, Size>& table, const std::array<float, N>& values, std::size_t row,
             std::size_t i) {
  const std::size_t at = row * Size + i;
  if (!is_int8) return Real(static_cast<double>(values[at]));
  return Real(static_cast<double>(table.scale[row])) * Real(static_cast<double>(table.weight[at]));
}

// Returns the input of the encoder: the embeddings of the eight slots, and then those of the characters of `text`.
// Texts are aligned at the end: a text of n characters has the last n of the 40 positions.
oracle::Matrix embedded(const Squeezed& text, bool is_int8) {
  constexpr std::size_t model = shape.model;
  oracle::Matrix x(slots + text.size, model);
  const std::string_view alphabet = w::alphabet;
  for (std::size_t i = 0; i < model; ++i) {
    for (std::size_t s = 0; s < slots; ++s) x(s, i) = element(is_int8, int8::slot, w::slot, s, i);
    for (std::size_t c = 0; c < text.size; ++c) {
      const auto found = alphabet.find(text.characters[c]);
      const std::size_t id = found == alphabet.npos ? 0 : found + 1;
      x(slots + c, i) = element(is_int8, int8::character, w::character, id, i) +
                        element(is_int8, int8::position, w::position, longest_text - text.size + c, i);
    }
  }
  return x;
}

// Returns the probability of each class, for each of the eight slots.
std::vector<std::vector<Real>> probabilities(const Squeezed& text, bool is_int8) {
  static const std::vector<oracle::LayerWeights> layers = layer_weights(is_int8);
  constexpr std::size_t width = shape.model / shape.heads;
  const oracle::Heads heads{
      shape.heads, shape.heads, width, width, {.scale = 1 / std::sqrt(static_cast<double>(width))}};
  constexpr ladon::Model config{.feed_forward = feed_forward, .norm = ladon::NormOrder::pre};
  const auto all = [](std::size_t, std::size_t) { return true; };
  const std::size_t tokens = slots + text.size;
  oracle::Matrix x = embedded(text, is_int8);
  x = oracle::encoder_layer(x, layers[0], heads, config, tokens, tokens, all).out;
  x = oracle::encoder_layer(x, layers[1], heads, config, slots, tokens, all).out;
  x = oracle::layer_norm({vector_of(w::final_norm_weight), vector_of(w::final_norm_bias)}, x);
  const oracle::Matrix logits = oracle::linear(oracle_of(w::classifier_weight, w::classifier_bias), x);
  std::vector<std::vector<Real>> shares(slots);
  for (std::size_t s = 0; s < slots; ++s) {
    double largest = logits(s, 0).value;
    for (std::size_t c = 1; c < classes; ++c) largest = std::max(largest, logits(s, c).value);
    Real sum;
    for (std::size_t c = 0; c < classes; ++c) {
      shares[s].push_back(exp(logits(s, c) - Real(largest)));
      sum = sum + shares[s].back();
    }
    for (Real& share : shares[s]) share = share / sum;
  }
  return shares;
}

std::string answer_of(const Reading& reading) {
  if (!reading.is_date()) return std::string(in_place_of_date(reading.status));
  const auto iso = reading.iso();
  return {iso.data(), iso.size()};
}

struct Verdict {
  bool is_int8;
  int wrong = 0;
  double worst = 0;  // the largest error, relative to the allowed error

  void judge(const std::string& line) {
    constexpr std::size_t answer = 10, number = 11, text_at = answer + slots * number + 2;
    static Workspace workspace;
    const std::string text = line.size() < text_at ? "" : line.substr(text_at);
    static Int8Workspace int8_workspace;
    const Reading reading = is_int8 ? read(text, int8_workspace) : read(text, workspace);
    if (line.substr(0, answer) != answer_of(reading)) {
      ++wrong;
      std::cout << "native: " << answer_of(reading) << "; firmware: " << line << "\n";
    }
    if (reading.status > Status::no_date) return;
    const auto expected = probabilities(reading.text, is_int8);
    std::istringstream bits(line.substr(answer, slots * number));
    for (std::size_t s = 0; s < slots; ++s) {
      std::uint32_t share = 0;
      bits >> share;
      const double off = ladon_test::distance(std::bit_cast<float>(share), expected[s][reading.digits[s]]);
      worst = std::max(worst, off);
      if (!bits || !(off <= 1)) {
        ++wrong;
        std::cout << "digit " << s << " is " << off << " times what is allowed off: " << line << "\n";
      }
    }
  }
};

}  // namespace
}  // namespace date_reader

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 0;
  if (count < 1) {
    std::cerr << "usage: judge COUNT [int8] <answers\n";
    return 2;
  }
  date_reader::Verdict verdict{.is_int8 = argc > 2 && std::string(argv[2]) == "int8"};
  int judged = 0;
  for (std::string line; judged < count && std::getline(std::cin, line); ++judged) verdict.judge(line);
  std::cout << judged << " texts, " << verdict.wrong << " wrong; at most " << verdict.worst
            << " of what is allowed off\n";
  return judged == count && verdict.wrong == 0 ? 0 : 1;
}
