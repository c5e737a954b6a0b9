// Converts the weights of linear maps from the precision of the model's file to bfloat16 or int8.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ladon/bfloat16.hpp>
#include <ladon/quantise.hpp>
#include <ladon/weights.hpp>
#include <memory>
#include <span>
#include <vector>

#include "error.hpp"

namespace examples {

// Converts the weights of linear maps, and owns the converted copies.
class ConvertedWeights {
 public:
  // Overload for equal precisions: `to` points to the weights of `from`, and nothing is copied.
  template <std::size_t Out, std::size_t In, ladon::Order O, ladon::Bias B>
  void convert(const ladon::Linear<Out, In, O, B>& from, ladon::Linear<Out, In, O, B>& to) noexcept {
    to = from;
  }

  template <std::size_t Out, std::size_t In, ladon::Order O, ladon::Bias B>
  void convert(const ladon::Linear<Out, In, O, B>& from, ladon::Linear<Out, In, O, B, ladon::precision::BFloat16>& to) {
    const auto weight = take<ladon::BFloat16, Out * In>();
    std::transform(from.weight.data, from.weight.data + Out * In, weight.begin(), ladon::to_bfloat16);
    to.weight = weight;
    if constexpr (B == ladon::Bias::with) to.bias = from.bias;
  }

  // Quantises the weights to int8. Throws Error if a weight is not finite.
  template <std::size_t Out, std::size_t In, ladon::Order O, ladon::Bias B, int Bits>
  void convert(const ladon::Linear<Out, In, O, B>& from,
               ladon::Linear<Out, In, O, B, ladon::precision::Int8<Bits>>& to) {
    const auto weight = take<std::int8_t, Out * In>();
    const auto scale = take<float, Out>();
    const auto row_sum = take<std::int32_t, Out>();
    if (!ladon::quantise(from, weight, scale)) throw Error("a weight of the model is not finite: is its file damaged?");
    ladon::row_sums<Out, In>(weight, row_sum);
    to.weight = weight;
    to.scale = scale;
    to.row_sum = row_sum;
    if constexpr (B == ladon::Bias::with) to.bias = from.bias;
  }

 private:
  template <class Element, std::size_t Count>
  std::span<Element, Count> take() {
    const std::shared_ptr<Element[]> taken(new Element[Count]);
    pieces_.push_back(taken);
    return std::span<Element, Count>(taken.get(), Count);
  }

  std::vector<std::shared_ptr<void>> pieces_;
};

}  // namespace examples
