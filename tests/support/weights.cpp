#include "weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

namespace ladon_test {

using oracle::AttentionWeights, oracle::LayerWeights, oracle::Linear, oracle::Norm;

Linear random_linear(Random& random, std::size_t out, std::size_t in, double gain) {
  return {out, in, random.normals(out * in, gain / std::sqrt(static_cast<double>(in))), random.normals(out, 0.5)};
}

AttentionWeights random_attention(Random& random, const ladon::Shape& shape) {
  const double livelier = 1.3;  // scores have the standard deviation 1.7: the softmax is neither uniform nor one-hot
  return {random_linear(random, shape.query_rows(), shape.model, livelier),
          random_linear(random, shape.key_rows(), shape.key_model, livelier),
          random_linear(random, shape.value_rows(), shape.value_model),
          random_linear(random, shape.model, shape.concat_width())};
}

Norm random_norm(Random& random, std::size_t size, const ladon::Model& config, float epsilon, bool of_feed_forward) {
  const bool one_plus_weight = config.norm_gain == ladon::NormGain::one_plus_weight;
  Norm norm{random.normals(size, 0.2, one_plus_weight ? 0 : 1), random.normals(size, 0.2), epsilon, one_plus_weight};
  const auto kind = of_feed_forward ? oracle::feed_forward_norm_kind(config) : config.norm_kind;
  if (kind == ladon::NormKind::rms || config.norm_bias == ladon::Bias::without) norm.bias.clear();
  return norm;
}

void add_norms(Random& random, AttentionWeights& weights, const ladon::Shape& shape, ladon::QueryKeyNormKind kind,
               float epsilon, ladon::NormGain gain) {
  if (kind.over == ladon::HeadNorm::none) return;
  const bool one = kind.over == ladon::HeadNorm::head;
  const ladon::Model config{.norm_kind = kind.kind, .norm_gain = gain, .norm_bias = kind.bias};
  weights.query_norm = random_norm(random, one ? shape.head_width : shape.query_rows(), config, epsilon);
  weights.key_norm = random_norm(random, one ? shape.head_width : shape.key_rows(), config, epsilon);
}

LayerWeights random_layer(Random& random, const ladon::Shape& shape, const ladon::Model& config, float epsilon) {
  LayerWeights layer{random_attention(random, shape),
                     {},
                     random_linear(random, config.feed_forward, shape.model),
                     random_linear(random, shape.model, config.feed_forward),
                     random_norm(random, shape.model, config, epsilon),
                     random_norm(random, shape.model, config, epsilon, true)};
  if (config.residual == ladon::Residual::parallel_one_norm) layer.norm2 = {};
  if (config.norm == ladon::NormOrder::both) {
    layer.output_norm1 = random_norm(random, shape.model, config, epsilon);
    layer.output_norm2 = random_norm(random, shape.model, config, epsilon, true);
  }
  if (config.layer_scale) {
    layer.scale1 = random.normals(shape.model, 0.3, 0.7);
    layer.scale2 = random.normals(shape.model, 0.3, 0.7);
  }
  if (config.activation == ladon::Activation::xielu) layer.activation = {0.7f, 1.3f};
  add_norms(random, layer.attention, shape, config.query_key_norm, epsilon, config.norm_gain);
  if (config.layer_bias) layer.attention_bias = random.normals(shape.heads * shape.queries * shape.keys);
  if (config.gated) layer.gate = random_linear(random, config.feed_forward, shape.model);
  if (config.bias == ladon::Bias::without) {
    for (Linear* linear : {&layer.gate, &layer.linear1, &layer.linear2}) linear->bias.clear();
  }
  return layer;
}

oracle::DecoderLayerWeights random_decoder_layer(Random& random, const ladon::Shape& shape, const ladon::Model& config,
                                                 float epsilon) {
  ladon::Model attentions = config;  // both attentions have norms of one kind
  attentions.feed_forward_norm_kind = ladon::NormKind::same;
  oracle::DecoderLayerWeights layer{random_layer(random, shape, attentions, epsilon), random_attention(random, shape),
                                    random_norm(random, shape.model, config, epsilon, true)};
  if (config.norm == ladon::NormOrder::both)
    layer.output_norm3 = random_norm(random, shape.model, config, epsilon, true);
  add_norms(random, layer.cross, shape, config.query_key_norm, epsilon, config.norm_gain);
  return layer;
}

void drop_biases(AttentionWeights& weights, ladon::Bias projections, ladon::Bias output) {
  if (projections == ladon::Bias::without) {
    for (Linear* linear : {&weights.query, &weights.key, &weights.value}) linear->bias.clear();
  }
  if (output == ladon::Bias::without) weights.output.bias.clear();
}

namespace {

void quantise_rotated(Linear& linear) {
  for (std::size_t o = 0; o < linear.out; ++o) {
    float* const row = linear.weight.data() + o * linear.in;
    std::vector<double> product(linear.in);
    double largest = 0;
    for (std::size_t i = 0; i < linear.in; ++i) {
      for (std::size_t j = 0; j < linear.in; ++j) product[i] += oracle::hadamard(i, j) * static_cast<double>(row[j]);
      largest = std::max(largest, std::abs(product[i]));
    }
    const double scale = -largest / 127;
    for (std::size_t i = 0; i < linear.in; ++i) row[i] = static_cast<float>(std::nearbyint(product[i] / scale));
    linear.scale[o] = static_cast<float>(scale / 8);
  }
}

}  // namespace

void quantise(Linear& linear, int activation_bits) {
  if (linear.weight.empty()) return;
  if (activation_bits >= bfloat16_weights && activation_bits < rotated) {
    for (float& w : linear.weight) w = ladon::to_float(ladon::to_bfloat16(w));
    linear.bfloat16 = true;
    linear.rounds_inputs = activation_bits != bfloat16_weights;
    linear.rounds_to_odd = activation_bits == bfloat16_products_to_odd;
    return;
  }
  linear.rotated = activation_bits > rotated;
  linear.activation_bits = linear.rotated ? activation_bits - rotated : activation_bits;
  linear.scale.resize(linear.out);
  if (linear.rotated) return quantise_rotated(linear);
  for (std::size_t o = 0; o < linear.out; ++o) {
    float* const row = linear.weight.data() + o * linear.in;
    float largest = 0;
    for (std::size_t i = 0; i < linear.in; ++i) largest = std::max(largest, std::abs(row[i]));
    linear.scale[o] = largest / 127;
    for (std::size_t i = 0; i < linear.in; ++i) row[i] = std::nearbyint(row[i] / linear.scale[o]);
  }
}
void quantise(AttentionWeights& weights, int activation_bits) {
  for (Linear* linear : {&weights.query, &weights.key, &weights.value, &weights.output}) {
    quantise(*linear, activation_bits);
  }
}
void quantise(LayerWeights& weights, int activation_bits) {
  quantise(weights.attention, activation_bits);
  for (Linear* linear : {&weights.gate, &weights.linear1, &weights.linear2}) quantise(*linear, activation_bits);
}
void quantise(oracle::DecoderLayerWeights& weights, int activation_bits) {
  quantise(weights.own, activation_bits);
  quantise(weights.cross, activation_bits);
}

namespace {

// Copies elements into an array of floats. The last element ends where the array ends, so that guarded memory
// (guarded.hpp) detects each load beyond the end. elements_at (weight_views.hpp) finds the first element.
template <class Element>
Floats in_floats(const std::vector<Element>& elements) {
  const auto bytes = std::as_bytes(std::span(elements));
  Floats memory((bytes.size() + sizeof(float) - 1) / sizeof(float));
  const auto last = std::as_writable_bytes(std::span(memory)).last(bytes.size());
  std::copy(bytes.begin(), bytes.end(), last.begin());
  return memory;
}

// Returns the weights in the format that the library reads: floats, or bfloat16 in an array of floats.
Floats stored(const Floats& weights, bool bfloat16) {
  if (!bfloat16 || weights.empty()) return weights;
  std::vector<ladon::BFloat16> elements;
  for (const float w : weights) elements.push_back(ladon::to_bfloat16(w));
  return in_floats(elements);
}

// Appends four tensors: the weight, scale, row_sum and bias of a linear map.
void append_int8(std::vector<Floats>& tensors, const Linear& w) {
  std::vector<std::int8_t> weight;
  Floats row_sum;
  for (const float q : w.weight) weight.push_back(static_cast<std::int8_t>(q));
  for (std::size_t o = 0; o < w.out; ++o) {
    std::int32_t sum = 0;
    for (std::size_t i = 0; i < w.in; ++i) sum += static_cast<std::int32_t>(w.weight[o * w.in + i]);
    row_sum.push_back(ladon::bit_cast<float>(sum));
  }
  tensors.push_back(in_floats(weight));
  tensors.push_back(w.scale);
  tensors.push_back(row_sum);
  if (!w.bias.empty()) tensors.push_back(w.bias);
}

// Returns the rows [first, first + count) of the matrix `w`, transposed to (in, out).
Floats in_out(const Linear& w, std::size_t first, std::size_t count) {
  Floats transposed(w.in * count);
  for (std::size_t i = 0; i < w.in; ++i) {
    for (std::size_t o = 0; o < count; ++o) transposed[i * count + o] = w.weight[(first + o) * w.in + i];
  }
  return transposed;
}

// Appends a tensor. If `values` is empty, because a layer lacks this tensor, appends nothing.
void append(std::vector<Floats>& tensors, const Floats& values) {
  if (!values.empty()) tensors.push_back(values);
}

void append(std::vector<Floats>& tensors, const Linear& w, WeightLayout layout) {
  if (w.activation_bits != 0) return append_int8(tensors, w);
  const bool transposed =
      layout == WeightLayout::in_out || layout == WeightLayout::per_head || layout == WeightLayout::in_proj_in_out;
  append(tensors, transposed ? in_out(w, 0, w.out) : stored(w.weight, w.bfloat16));
  append(tensors, w.bias);
}

void append_heads(std::vector<Floats>& tensors, const Linear& w, std::size_t width) {
  for (std::size_t first = 0; first < w.out; first += width) {
    tensors.push_back(in_out(w, first, width));
    if (w.bias.empty()) continue;
    tensors.emplace_back(w.bias.begin() + static_cast<std::ptrdiff_t>(first),
                         w.bias.begin() + static_cast<std::ptrdiff_t>(first + width));
  }
}

// Appends `count` rows of `from`, from row `first` on, to the linear map `to`.
void append_rows(Linear& to, const Linear& from, std::size_t first, std::size_t count) {
  const auto append = [&](Floats& all, const Floats& part, std::size_t width) {
    if (part.empty()) return;
    const auto begin = part.begin() + static_cast<std::ptrdiff_t>(first * width);
    all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(count * width));
  };
  append(to.weight, from.weight, from.in);
  append(to.bias, from.bias, 1);
  append(to.scale, from.scale, 1);
  to.out += count;
}

// Returns in_proj, whose rows are in the order of the layout.
Linear packed(const AttentionWeights& w, WeightLayout layout, const ladon::Shape& shape) {
  const bool values_first = layout == WeightLayout::values_first;
  const std::size_t blocks = values_first ? 2 : layout == WeightLayout::in_blocks ? shape.kv_heads : 1;
  Linear all = w.query;
  all.out = 0;
  all.weight.clear(), all.bias.clear(), all.scale.clear();
  for (std::size_t b = 0; b < blocks; ++b) {
    for (const Linear* part : {&w.query, values_first ? &w.value : &w.key, values_first ? &w.key : &w.value}) {
      append_rows(all, *part, b * part->out / blocks, part->out / blocks);
    }
  }
  return all;
}

}  // namespace

void append_tensors(std::vector<Floats>& tensors, const Linear& linear, ladon::Order order) {
  append(tensors, linear, order == ladon::Order::in_out ? WeightLayout::in_out : WeightLayout::separate);
}

void append_tensors(std::vector<Floats>& tensors, WeightLayout layout, const ladon::Shape& shape,
                    const AttentionWeights& w) {
  switch (layout) {
    case WeightLayout::in_proj:
    case WeightLayout::in_proj_in_out:
    case WeightLayout::in_blocks:
    case WeightLayout::values_first:
      append(tensors, packed(w, layout, shape), layout);
      break;
    case WeightLayout::separate:
    case WeightLayout::in_out:
      for (const Linear* projection : {&w.query, &w.key, &w.value}) append(tensors, *projection, layout);
      break;
    case WeightLayout::per_head:
      append_heads(tensors, w.query, shape.head_width);
      append_heads(tensors, w.key, shape.head_width);
      append_heads(tensors, w.value, shape.value_width);
      break;
  }
  append(tensors, w.output, layout);
  append_tensors(tensors, w.query_norm);
  append_tensors(tensors, w.key_norm);
}

namespace {

void append_feed_forward(std::vector<Floats>& tensors, WeightLayout layout, const LayerWeights& w) {
  for (const Linear* linear : {&w.gate, &w.linear1, &w.linear2}) append(tensors, *linear, layout);
  append_tensors(tensors, w.norm1);
  append_tensors(tensors, w.norm2);
  append_tensors(tensors, w.output_norm1);
  append_tensors(tensors, w.output_norm2);
  append(tensors, w.scale1);
  append(tensors, w.scale2);
  append(tensors, w.activation);
  append(tensors, w.attention_bias);
}

}  // namespace

void append_tensors(std::vector<Floats>& tensors, WeightLayout layout, const ladon::Shape& shape,
                    const LayerWeights& w) {
  append_tensors(tensors, layout, shape, w.attention);
  append_feed_forward(tensors, layout, w);
}

void append_tensors(std::vector<Floats>& tensors, WeightLayout layout, const ladon::Shape& shape,
                    const oracle::DecoderLayerWeights& w) {
  append_tensors(tensors, layout, shape, w.own.attention);
  append_tensors(tensors, layout, shape, w.cross);
  append_feed_forward(tensors, layout, w.own);
  append_tensors(tensors, w.norm3);
  append_tensors(tensors, w.output_norm3);
}

void append_tensors(std::vector<Floats>& tensors, const Norm& norm) {
  append(tensors, norm.weight);
  append(tensors, norm.bias);
}

oracle::Heads heads_of(const ladon::Shape& shape) {
  return {shape.heads,
          shape.kv_heads,
          shape.head_width,
          shape.value_width,
          {.scale = 1 / std::sqrt(static_cast<double>(shape.head_width))}};
}

}  // namespace ladon_test
