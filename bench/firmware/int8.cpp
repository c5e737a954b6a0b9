// Prints the instructions per multiply-add of a product, of attention and of an encoder layer with int8 weights. The
// counts include the quantisation of the input. The output has a line for each shape of "firmware" in shapes.json.
#include <cstddef>
#include <cstdint>

#include <ladon/ladon.hpp>

#include "counting.hpp"

namespace {

using namespace counting;

constexpr std::size_t most_tokens = most(&ladon::Shape::queries), most_model = most(&ladon::Shape::model),
                      most_hidden = 4 * most_model;

// Weights and tokens of the largest shape. Smaller shapes use the first elements.
float x[most_tokens * most_model], y[most_tokens * most_model];
std::int8_t weight[most_hidden * most_model];
std::int32_t row_sum[most_hidden];
float scale[most_hidden], bias[most_hidden];

template <std::size_t Out, std::size_t In>
ladon::Linear<Out, In, ladon::Order::out_in, ladon::Bias::with, ladon::precision::Int8<8>> linear() {
  ladon::row_sums<Out, In>(&weight[0], &row_sum[0]);
  return {&weight[0], &scale[0], &row_sum[0], &bias[0]};
}

// Quantises tokens and multiplies the tokens by a square matrix. `in` and `out` have the layout of panels, which layers
// use internally: a panel holds the features of a few tokens, and these tokens lie side by side.
template <std::size_t Tokens, std::size_t Model, class Linear>
void multiply(const Linear& matrix, const float* in, float* out) {
  using Simd = ladon::detail::vec::NativeVectors;
  using ladon::detail::PanelLayout;
  constexpr PanelLayout layout = ladon::detail::panel_layout<Simd>(Tokens),
                        last = ladon::detail::last_panel_layout<Simd>(Tokens);
  constexpr std::size_t stride = Model * layout.width();
  [[maybe_unused]] static ladon::detail::LinearInput<ladon::precision::Int8<8>, Simd, Tokens, Model, layout> input;
  ladon::for_panels<layout, last, Tokens>(
      Tokens, [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
        const auto quantised = input.template convert<Simd, P, Packs, Model>(in, first, count);
        ladon::detail::matmul<Simd, P, Packs, Model, Model>(
            matrix.rows_from(0), quantised.template panels_from<Model, layout.width()>(first), count,
            ladon::detail::Epilogue<P.width()>{out + first * stride, stride});
      });
}

template <ladon::Shape shape>
void count() {
  constexpr std::size_t Tokens = shape.queries, Model = shape.model;
  constexpr std::uint64_t product = std::uint64_t(Tokens) * Model * Model;
  constexpr std::uint64_t attention = 4 * product + 2 * std::uint64_t(Tokens) * Tokens * Model;
  print_shape(shape);

  const auto square = linear<Model, Model>();
  print_ratio(instructions([&] { multiply<Tokens, Model>(square, x, y); }), product);

  using Layout = ladon::layout::Int8<ladon::layout::InProj>;
  using Attention = ladon::MultiHeadAttention<shape, ladon::mask::Unmasked, Layout>;
  static typename Attention::Workspace workspace;
  const typename Attention::Weights weights{.in_proj = linear<3 * Model, Model>(), .out_proj = square};
  print_ratio(instructions([&] { Attention::run(&x[0], weights, &y[0], workspace); }), attention);

  constexpr ladon::Model config{.feed_forward = 4 * Model};
  using Layer = ladon::EncoderLayer<config.with(shape), ladon::mask::Unmasked, Layout>;
  static typename Layer::Workspace layer_workspace;
  const typename Layer::Weights layer{.attention = weights,
                                      .linear1 = linear<4 * Model, Model>(),
                                      .linear2 = linear<Model, 4 * Model>(),
                                      .norm1 = {&bias[0], &bias[0]},
                                      .norm2 = {&bias[0], &bias[0]}};
  print_ratio(instructions([&] { Layer::run(&x[0], layer, &y[0], layer_workspace); }), attention + 8 * product);
  board::print("\n");
}

}  // namespace

int main() {
  fill(x, 2);
  fill(bias, 0.1f);
  for (float& each : scale) each = 0.3f / 127;
  std::uint32_t state = 1;
  for (std::int8_t& each : weight) {
    state = state * 1664525u + 1013904223u;
    each = static_cast<std::int8_t>(static_cast<std::int32_t>(state >> 8) % 255 - 127);
  }
  board::print("int8 shape          product   attention       layer\n");
  counting::for_each_shape([]<ladon::Shape S>() { count<S>(); });
}
