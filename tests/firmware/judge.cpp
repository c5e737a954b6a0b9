// judge COUNT: reads what the firmware's date_reader printed of COUNT texts (its argument `exact`), and runs them here.
// Dates must be the native reader's. Each digit's probability must agree with the oracle, which computes the whole
// model in float64 and with it how far float32 may be off (tests/support/bound.hpp).
#include <algorithm>
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
#include "oracle.hpp"

namespace date_reader {
namespace {

namespace oracle = ladon_test::oracle;
namespace w = weights;
using ladon_test::Real;

template <std::size_t N>
std::vector<float> vector_of(const float (&values)[N]) {
  return {values, values + N};
}

template <std::size_t N, std::size_t M>
oracle::Linear linear_of(const float (&weight)[N], const float (&bias)[M]) {
  return {.out = M, .in = N / M, .weight = vector_of(weight), .bias = vector_of(bias)};
}

oracle::AttentionWeights attention_of(const float* in_weight, const float* in_bias, oracle::Linear output) {
  constexpr std::size_t model = shape.model;
  oracle::Linear part[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const float* const weight = in_weight + i * model * model;
    part[i] = {model, model, {weight, weight + model * model}, {in_bias + i * model, in_bias + (i + 1) * model}};
  }
  return {part[0], part[1], part[2], std::move(output)};
}

std::vector<oracle::LayerWeights> layer_weights() {
  oracle::LayerWeights first, second;
  first.attention = attention_of(w::layer0_in_proj_weight, w::layer0_in_proj_bias,
                                 linear_of(w::layer0_out_proj_weight, w::layer0_out_proj_bias));
  first.linear1 = linear_of(w::layer0_linear1_weight, w::layer0_linear1_bias);
  first.linear2 = linear_of(w::layer0_linear2_weight, w::layer0_linear2_bias);
  first.norm1 = {vector_of(w::layer0_norm1_weight), vector_of(w::layer0_norm1_bias)};
  first.norm2 = {vector_of(w::layer0_norm2_weight), vector_of(w::layer0_norm2_bias)};
  second.attention = attention_of(w::layer1_in_proj_weight, w::layer1_in_proj_bias,
                                  linear_of(w::layer1_out_proj_weight, w::layer1_out_proj_bias));
  second.linear1 = linear_of(w::layer1_linear1_weight, w::layer1_linear1_bias);
  second.linear2 = linear_of(w::layer1_linear2_weight, w::layer1_linear2_bias);
  second.norm1 = {vector_of(w::layer1_norm1_weight), vector_of(w::layer1_norm1_bias)};
  second.norm2 = {vector_of(w::layer1_norm2_weight), vector_of(w::layer1_norm2_bias)};
  return {first, second};
}

// The slots, and behind them the text, at the end of its 40 places.
oracle::Matrix embedded(const Squeezed& text) {
  constexpr std::size_t model = shape.model;
  oracle::Matrix x(slots + text.size, model);
  const std::string_view alphabet = w::alphabet;
  for (std::size_t i = 0; i < model; ++i) {
    for (std::size_t s = 0; s < slots; ++s) x(s, i) = Real(static_cast<double>(w::slot[s * model + i]));
    for (std::size_t c = 0; c < text.size; ++c) {
      const auto found = alphabet.find(text.characters[c]);
      const std::size_t id = found == alphabet.npos ? 0 : found + 1;
      x(slots + c, i) = Real(static_cast<double>(w::character[id * model + i])) +
                        Real(static_cast<double>(w::position[(longest_text - text.size + c) * model + i]));
    }
  }
  return x;
}

// Of each slot the probabilities of its classes.
std::vector<std::vector<Real>> probabilities(const Squeezed& text) {
  static const std::vector<oracle::LayerWeights> layers = layer_weights();
  constexpr std::size_t width = shape.model / shape.heads;
  const oracle::Heads heads{
      shape.heads, shape.heads, width, width, {.scale = 1 / std::sqrt(static_cast<double>(width))}};
  constexpr ladon::LayerConfig config{.feed_forward = feed_forward, .norm = ladon::NormOrder::pre};
  const auto all = [](std::size_t, std::size_t) { return true; };
  const std::size_t tokens = slots + text.size;
  oracle::Matrix x = embedded(text);
  x = oracle::encoder_layer(x, layers[0], heads, config, tokens, tokens, all).out;
  x = oracle::encoder_layer(x, layers[1], heads, config, slots, tokens, all).out;
  x = oracle::layer_norm({vector_of(w::final_norm_weight), vector_of(w::final_norm_bias)}, x);
  const oracle::Matrix logits = oracle::linear(linear_of(w::classifier_weight, w::classifier_bias), x);
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
  int wrong = 0;
  double worst = 0;  // distance, as a share of what is allowed

  void judge(const std::string& line) {
    constexpr std::size_t answer = 10, number = 11, text_at = answer + slots * number + 2;
    static Workspace workspace;
    const std::string text = line.size() < text_at ? "" : line.substr(text_at);
    const Reading reading = read(text, workspace);
    if (line.substr(0, answer) != answer_of(reading)) {
      ++wrong;
      std::cout << "native: " << answer_of(reading) << "; firmware: " << line << "\n";
    }
    if (reading.status > Status::no_date) return;
    const auto expected = probabilities(reading.text);
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
    std::cerr << "usage: judge COUNT <answers\n";
    return 2;
  }
  date_reader::Verdict verdict;
  int judged = 0;
  for (std::string line; judged < count && std::getline(std::cin, line); ++judged) verdict.judge(line);
  std::cout << judged << " texts, " << verdict.wrong << " wrong; at most " << verdict.worst
            << " of what float32 may be off\n";
  return judged == count && verdict.wrong == 0 ? 0 : 1;
}
