// Prints the instructions per multiply-add of a product, of attention and of an encoder layer. The output has a line
// for each shape of "firmware" in shapes.json.
#include <cstddef>
#include <cstdint>

#include <ladon/ladon.hpp>

#if defined(LADON_HAS_CMSIS_DSP)
extern "C" {
#include <dsp/matrix_functions.h>
}
#endif

#include "counting.hpp"

namespace {

using namespace counting;

constexpr std::size_t most_tokens = most(&ladon::Shape::queries), most_model = most(&ladon::Shape::model),
                      most_hidden = 4 * most_model;

// Weights and tokens of the largest shape. Smaller shapes use the first elements.
float x[most_tokens * most_model], y[most_tokens * most_model];
float in_weight[3 * most_model * most_model], out_weight[most_model * most_model];
float weight1[most_hidden * most_model], weight2[most_hidden * most_model];
float bias[most_hidden];

// Multiplies tokens by a square matrix that is stored in the order `O`. `in` and `out` have the layout of panels, which
// layers use internally: a panel holds the features of a few tokens, and these tokens lie side by side.
template <std::size_t Tokens, std::size_t Model, ladon::Order O>
void multiply(const float* in, float* out) {
  const ladon::Linear<Model, Model, O> linear{.weight = &out_weight[0], .bias = &bias[0]};
  using ladon::detail::PanelLayout;
  using Simd = ladon::detail::vec::NativeVectors;
  constexpr PanelLayout layout = ladon::detail::panel_layout<Simd>(Tokens),
                        last = ladon::detail::last_panel_layout<Simd>(Tokens);
  constexpr std::size_t stride = Model * layout.width();
  ladon::for_panels<layout, last, Tokens>(
      Tokens, [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
        ladon::detail::matmul<Simd, P, Packs, Model, Model>(
            linear.rows_from(0), ladon::detail::PanelsView{in + first * stride}, count,
            ladon::detail::Epilogue<P.width()>{out + first * stride, stride});
      });
}

template <ladon::Shape shape>
void count() {
  constexpr std::size_t Tokens = shape.queries, Model = shape.model;
  constexpr std::uint64_t product = std::uint64_t(Tokens) * Model * Model;
  constexpr std::uint64_t attention = 4 * product + 2 * std::uint64_t(Tokens) * Tokens * Model;
  print_shape(shape);

  print_ratio(instructions([] { multiply<Tokens, Model, ladon::Order::out_in>(x, y); }), product);
  print_ratio(instructions([] { multiply<Tokens, Model, ladon::Order::in_out>(x, y); }), product);

  using Attention = ladon::MultiHeadAttention<shape>;
  static typename Attention::Workspace workspace;
  const typename Attention::Weights weights{.in_proj = {&in_weight[0], &bias[0]},
                                            .out_proj = {&out_weight[0], &bias[0]}};
  print_ratio(instructions([&] { Attention::run(&x[0], weights, &y[0], workspace); }), attention);

  constexpr ladon::Model config{.feed_forward = 4 * Model};
  using Layer = ladon::EncoderLayer<config.with(shape)>;
  static typename Layer::Workspace layer_workspace;
  const typename Layer::Weights layer{.attention = weights,
                                      .linear1 = {&weight1[0], &bias[0]},
                                      .linear2 = {&weight2[0], &bias[0]},
                                      .norm1 = {&bias[0], &bias[0]},
                                      .norm2 = {&bias[0], &bias[0]}};
  print_ratio(instructions([&] { Layer::run(&x[0], layer, &y[0], layer_workspace); }), attention + 8 * product);

#if defined(LADON_HAS_CMSIS_DSP)
  const arm_matrix_instance_f32 tokens{Tokens, Model, x}, matrix{Model, Model, out_weight};
  arm_matrix_instance_f32 result{Tokens, Model, y};
  print_ratio(instructions([&] { arm_mat_mult_f32(&tokens, &matrix, &result); }), product);
#endif
  board::print("\n");
}

}  // namespace

int main() {
  fill(x, 2);
  fill(in_weight, 0.3f);
  fill(out_weight, 0.3f);
  fill(weight1, 0.3f);
  fill(weight2, 0.3f);
  fill(bias, 0.1f);
  board::print("shape               product    (in,out)   attention       layer");
#if defined(LADON_HAS_CMSIS_DSP)
  board::print("   arm_mat_mult_f32");
#endif
  board::print("\n");
  counting::for_each_shape([]<ladon::Shape S>() { count<S>(); });
}
