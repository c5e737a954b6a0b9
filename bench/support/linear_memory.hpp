// Converts the weights of a linear map from float32 to bfloat16 or int8. Float32 weights are used without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <ladon/ladon.hpp>

namespace ladon_bench {

// A linear map made of the float arrays `weight` (Out, In) and `bias` (Out). If `Precision` is bfloat16 or int8, the
// map owns converted weights. If `Precision` is float32, the map points to `weight`. The map always points to `bias`.
// The caller must keep the arrays alive.
template <std::size_t Out, std::size_t In, class Precision>
class LinearMemory {
 public:
  using View = ladon::Linear<Out, In, ladon::Order::out_in, ladon::Bias::with, Precision>;

  LinearMemory(const float* weight, const float* bias) : weight_(weight), bias_(bias) {
    if constexpr (is_int8) {
      ladon::quantise(ladon::Linear<Out, In>{weight, bias}, int8_.data(), scale_.data());
      ladon::row_sums<Out, In>(int8_.data(), row_sum_.data());
    }
    if constexpr (is_bfloat16) {
      for (std::size_t i = 0; i < Out * In; ++i) bfloat16_.push_back(ladon::to_bfloat16(weight[i]));
    }
  }

  View view() const {
    if constexpr (is_int8) {
      return {int8_.data(), scale_.data(), row_sum_.data(), bias_};
    } else if constexpr (is_bfloat16) {
      return {bfloat16_.data(), bias_};
    } else {
      return {weight_, bias_};
    }
  }

 private:
  static constexpr bool is_int8 = ladon::precision::is_int8<Precision>;
  static constexpr bool is_bfloat16 = std::is_same_v<Precision, ladon::precision::BFloat16>;
  static constexpr std::size_t int8_rows = is_int8 ? Out : 0;
  const float *weight_, *bias_;
  std::vector<ladon::BFloat16> bfloat16_;
  std::vector<std::int8_t> int8_ = std::vector<std::int8_t>(int8_rows * In);
  std::vector<float> scale_ = std::vector<float>(int8_rows);
  std::vector<std::int32_t> row_sum_ = std::vector<std::int32_t>(int8_rows);
};

// The name of the type `Precision`, such as "int8". Case::precision has the same names.
template <class Precision>
inline constexpr const char* name_of = "float32";
template <>
inline constexpr const char* name_of<ladon::precision::BFloat16> = "bfloat16";
template <int Bits>
inline constexpr const char* name_of<ladon::precision::Int8<Bits>> = "int8";

}  // namespace ladon_bench
