#include "reference.hpp"

#include <algorithm>
#include <cmath>

namespace stories {
namespace {

using Numbers = std::vector<double>;

// Returns W x, with W [rows][x.size()].
Numbers product(const float* weight, std::size_t rows, const Numbers& x) {
  Numbers y(rows, 0.0);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < x.size(); ++i) y[row] += static_cast<double>(weight[row * x.size() + i]) * x[i];
  return y;
}

void add(Numbers& x, const Numbers& y) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

// Computes RMSNorm (arXiv 1910.07467).
Numbers normed(const Numbers& x, const float* weight) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + static_cast<double>(norm_epsilon));
  Numbers y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = static_cast<double>(weight[i]) * scale * x[i];
  return y;
}

// Computes rotary positions (arXiv 2104.09864): rotates each pair of numbers 2i and 2i + 1 of a head by the angle
// position * rotary_base^(-2i / head_width).
void turn(Numbers& heads, std::size_t position) {
  for (std::size_t i = 0; i < heads.size(); i += 2) {
    const double share = static_cast<double>(i % head_width) / head_width;
    const double angle = static_cast<double>(position) * std::pow(static_cast<double>(rotary_base), -share);
    const double a = heads[i], b = heads[i + 1];
    heads[i] = a * std::cos(angle) - b * std::sin(angle);
    heads[i + 1] = a * std::sin(angle) + b * std::cos(angle);
  }
}

// Computes SwiGLU (arXiv 2002.05202).
Numbers feed_forward(const LayerTensors& layer, const Numbers& x) {
  const Numbers gate = product(layer.gate, feed_forward_width, x);
  Numbers hidden = product(layer.up, feed_forward_width, x);
  for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] *= gate[i] / (1 + std::exp(-gate[i]));
  return product(layer.down, model_width, hidden);
}

}  // namespace

Numbers Reference::extend(TokenId token) {
  const float* embedding = checkpoint_.embedding + token * model_width;
  Numbers x(embedding, embedding + model_width);
  for (std::size_t i = 0; i < layer_count; ++i) {
    const LayerTensors& layer = checkpoint_.layers[i];
    add(x, attend(layer, normed(x, layer.attention_norm), layers_[i]));
    add(x, feed_forward(layer, normed(x, layer.feed_forward_norm)));
  }
  return product(checkpoint_.embedding, vocabulary_size, normed(x, checkpoint_.final_norm));
}

Numbers Reference::attend(const LayerTensors& layer, const Numbers& x, Past& past) {
  const std::size_t position = past.keys.size();
  Numbers query = product(layer.query, model_width, x);
  Numbers key = product(layer.key, kv_width, x);
  turn(query, position);
  turn(key, position);
  past.keys.push_back(key);
  past.values.push_back(product(layer.value, kv_width, x));
  Numbers heads;
  for (std::size_t head = 0; head < head_count; ++head) {
    const Numbers one = attend_head(query.data() + head * head_width, head / (head_count / kv_head_count), past);
    heads.insert(heads.end(), one.begin(), one.end());
  }
  return product(layer.output, model_width, heads);
}

Numbers Reference::attend_head(const double* query, std::size_t kv_head, const Past& past) {
  const std::size_t first = kv_head * head_width;
  Numbers weights;
  for (const Numbers& key : past.keys) {
    double score = 0;
    for (std::size_t i = 0; i < head_width; ++i) score += query[i] * key[first + i];
    weights.push_back(score / std::sqrt(static_cast<double>(head_width)));
  }
  const double largest = *std::ranges::max_element(weights);
  double sum = 0;
  for (double& weight : weights) sum += weight = std::exp(weight - largest);
  Numbers out(head_width, 0.0);
  for (std::size_t t = 0; t < weights.size(); ++t)
    for (std::size_t i = 0; i < head_width; ++i) out[i] += weights[t] / sum * past.values[t][first + i];
  return out;
}

}  // namespace stories
