// Allocates the numbers that a decoding step reads, layer by layer: weights and full caches of keys and values.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <ladon/ladon.hpp>

#include "parameters.hpp"
#include "plain_read.hpp"

namespace ladon_bench {

using namespace ladon;

// Allocates the weights and caches that a decoding step reads. A program calls make() for the arrays in the order in
// which a step reads them. parts() returns the arrays in this order, so that plain_read can read them, too.
class DecodeMemory {
 public:
  const bench::Parts& parts() const { return parts_; }

  template <std::size_t Out, std::size_t In, Order O, Bias B>
  void make(Linear<Out, In, O, B>& linear) {
    linear.weight = make(Out * In, deviation(In));
    if constexpr (B == Bias::with) linear.bias = make(Out, 0.1f);
  }
  template <std::size_t Out, std::size_t In, Order O, Bias B>
  void make(Linear<Out, In, O, B, precision::BFloat16>& linear) {
    std::vector<BFloat16> weight;
    for (const float w : random_numbers(Out * In, deviation(In))) weight.push_back(to_bfloat16(w));
    linear.weight = make_of(weight);
    if constexpr (B == Bias::with) linear.bias = make(Out, 0.1f);
  }
  template <std::size_t Out, std::size_t In, Order O, Bias B, int Bits, int WeightBits>
  void make(Linear<Out, In, O, B, precision::Int8<Bits, false, WeightBits>>& linear) {
    using Integers = std::remove_reference_t<decltype(linear)>;
    const std::vector<float> numbers = random_numbers(Out * In, deviation(In));
    const Linear<Out, In, O, Bias::without> floats{numbers.data()};
    std::vector<typename Integers::Element> weight(Out * Integers::row_bytes);
    std::vector<float> scale(Out);
    std::vector<std::int32_t> row_sum(Out);
    if constexpr (WeightBits == 4) {
      quantise_int4(floats, weight.data(), scale.data());
      int4_row_sums<Out, In>(weight.data(), row_sum.data());
    } else {
      quantise(floats, weight.data(), scale.data());
      row_sums<Out, In>(weight.data(), row_sum.data());
    }
    linear.weight = make_of(weight);
    linear.scale = make_of(scale);
    linear.row_sum = make_of(row_sum);
    if constexpr (B == Bias::with) linear.bias = make(Out, 0.1f);
  }
  template <std::size_t Size, NormKind K, Bias B>
  void make(Norm<Size, K, B>& norm) {
    norm.weight = make(Size, 1);
    if constexpr (requires { norm.bias.data; }) norm.bias = make(Size, 1);
  }
  // Fills the cache except for its last token, which the step adds.
  template <Shape S, Keep K, class Vectors>
  void make(KeyValueCache<S, K, Vectors>& cache) {
    for (std::size_t head = 0; head < S.kv_heads; ++head) {
      fill<S.keys, S.head_width>(cache.keys[head]);
      fill<S.keys, S.value_width>(cache.values[head]);
    }
    cache.length = S.keys - 1;
  }

  template <class Attention, class Cache>
  void make_attention(Attention& w, Cache& cache) {
    if constexpr (requires { w.in_proj; }) {
      make(w.in_proj);
    } else {
      make(w.query_proj);
      make(w.key_proj);
      make(w.value_proj);
    }
    make(cache);
    make(w.out_proj);
  }
  template <class Layer, class Cache>
  void make_layer(Layer& w, Cache& cache) {
    make_attention(w.attention, cache);
    make(w.norm1);
    if constexpr (requires { w.gate.weight; }) make(w.gate);
    make(w.linear1);
    make(w.linear2);
    make(w.norm2);
  }

 private:
  template <std::size_t Keys, std::size_t Features, class Storage>
  void fill(Storage& storage) {
    const std::vector<float> numbers = random_numbers(Keys * Features, 1);
    for (std::size_t key = 0; key < Keys; ++key) storage.store(key, numbers.data() + key * Features, 1);
    parts_.emplace_back(reinterpret_cast<float*>(&storage), sizeof(storage) / sizeof(float));
  }
  static float deviation(std::size_t in) { return 1 / std::sqrt(static_cast<float>(in)); }
  // Copies the bytes of `elements`, which can be bfloat16 or int8, into an array of floats. plain_read reads all arrays
  // as floats.
  template <class Element>
  const Element* make_of(const std::vector<Element>& elements) {
    const std::size_t bytes = elements.size() * sizeof(Element);
    numbers_.emplace_back((bytes + sizeof(float) - 1) / sizeof(float));
    std::memcpy(numbers_.back().data(), elements.data(), bytes);
    parts_.push_back(numbers_.back());
    return reinterpret_cast<const Element*>(numbers_.back().data());
  }
  const float* make(std::size_t count, float deviation) {
    numbers_.push_back(random_numbers(count, deviation));
    parts_.push_back(numbers_.back());
    return numbers_.back().data();
  }

  std::vector<std::vector<float>> numbers_;
  bench::Parts parts_;
};

}  // namespace ladon_bench
