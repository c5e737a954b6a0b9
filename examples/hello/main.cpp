// Causal self-attention of four tokens, and the attention weights of each token.
#include <cstdio>

#include <ladon/ladon.hpp>

constexpr ladon::Model model{.tokens = 4, .model = 8, .heads = 2, .mask = {.causal = true}};  // 4 tokens of 8 features
using SelfAttention = ladon::MultiHeadAttention<model>;

// The weights, as tensors of PyTorch's MultiheadAttention. A real program reads them from a checkpoint.
float in_weight[24][8], in_bias[24], out_weight[8][8], out_bias[8];
float x[4][8], y[4][8];              // one token in each row
float attention[2][4][4];            // [heads][queries][keys]
SelfAttention::Workspace workspace;  // all the memory that a call needs

int main() {
  for (int i = 0; i < 24 * 8; ++i) in_weight[i / 8][i % 8] = static_cast<float>(i * 7 % 11 - 5) / 10;
  for (int i = 0; i < 8 * 8; ++i) out_weight[i / 8][i % 8] = static_cast<float>(i * 5 % 7 - 3) / 10;
  for (int i = 0; i < 4 * 8; ++i) x[i / 8][i % 8] = static_cast<float>(i * 3 % 13 - 6) / 5;

  const SelfAttention::Weights weights{.in_proj = {in_weight, in_bias}, .out_proj = {out_weight, out_bias}};
  SelfAttention::run(x, weights, y, workspace, {}, SelfAttention::Map{attention});

  for (const auto& row : y) std::printf("y: %6.3f %6.3f %6.3f ...\n", row[0], row[1], row[2]);
  for (const auto& row : attention[0]) std::printf("head 0: %.2f %.2f %.2f %.2f\n", row[0], row[1], row[2], row[3]);
}
