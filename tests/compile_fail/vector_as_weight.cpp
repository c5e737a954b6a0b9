// must print: ladon: the size of a container such as std::vector is not known to the compiler: give v.data(), or
// must print: std::span(v).first<N>()
// most lines: 20
#include <vector>

#include <ladon/ladon.hpp>

using Attention = ladon::MultiHeadAttention<ladon::Shape{.queries = 4, .model = 6, .heads = 2}>;
Attention::Weights weights(const std::vector<float>& in_weight, const float* bias, const float* out_weight) {
  return {.in_proj = {in_weight, bias}, .out_proj = {out_weight, bias}};
}
