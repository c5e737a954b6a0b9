// Prints the instructions per multiply-add of a product, of attention and of an encoder layer with int8 weights, and of
// a product and of a layer with 4-bit weights. The counts include the quantisation of the input. The output has a line
// for each shape of "firmware" in shapes.json.
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ladon/ladon.hpp>

#include "counting.hpp"

namespace {

using namespace counting;

constexpr std::size_t most_tokens = most(&ladon::Shape::queries), most_model = most(&ladon::Shape::model),
                      most_hidden = 4 * most_model;

// Weights and tokens of the largest shape. Smaller shapes use the first elements.
float x[most_tokens * most_model], y[most_tokens * most_model];
std::int8_t weight[most_hidden * most_model];
std::uint8_t codes[most_hidden * ladon::int4_row_bytes(most_model)];
std::int32_t row_sum[most_hidden];
float scale[most_hidden], bias[most_hidden];

using Int8 = ladon::precision::Int8<8>;
using Int4 = ladon::precision::Int4<8>;

template <std::size_t Out, std::size_t In, class Precision>
ladon::Linear<Out, In, ladon::Order::out_in, ladon::Bias::with, Precision> linear() {
  if constexpr (std::is_same_v<Precision, Int4>) {
    static_assert(Out * ladon::int4_row_bytes(In) <= sizeof(codes));
    ladon::int4_row_sums<Out, In>(&codes[0], &row_sum[0]);
    return {&codes[0], &scale[0], &row_sum[0], &bias[0]};
  } else {
    ladon::row_sums<Out, In>(&weight[0], &row_sum[0]);
    return {&weight[0], &scale[0], &row_sum[0], &bias[0]};
  }
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
  [[maybe_unused]] static ladon::detail::LinearInput<Int8, Simd, Tokens, Model, layout> input;
  ladon::for_panels<layout, last, Tokens>(
      Tokens, [&]<PanelLayout P, std::size_t Packs>(std::size_t first, std::size_t count) {
        const auto quantised = input.template convert<Simd, P, Packs, Model>(in, first, count);
        ladon::detail::matmul<Simd, P, Packs, Model, Model>(
            matrix.rows_from(0), quantised.template panels_from<Model, layout.width()>(first), count,
            ladon::detail::Epilogue<P.width()>{out + first * stride, stride});
      });
}

template <ladon::Shape shape, class Precision>
void count_product() {
  constexpr std::size_t Tokens = shape.queries, Model = shape.model;
  const auto square = linear<Model, Model, Precision>();
  print_ratio(instructions([&] { multiply<Tokens, Model>(square, x, y); }), std::uint64_t(Tokens) * Model * Model);
}

constexpr std::uint64_t products_of_attention(const ladon::Shape& s) {
  return 2 * std::uint64_t(s.queries) * s.model * (2 * s.model + s.queries);
}

template <ladon::Shape shape>
void count_attention() {
  constexpr std::size_t Model = shape.model;
  using Attention = ladon::MultiHeadAttention<shape, ladon::mask::Unmasked, ladon::layout::Int8<ladon::layout::InProj>>;
  static typename Attention::Workspace workspace;
  const typename Attention::Weights weights{.in_proj = linear<3 * Model, Model, Int8>(),
                                            .out_proj = linear<Model, Model, Int8>()};
  print_ratio(instructions([&] { Attention::run(&x[0], weights, &y[0], workspace); }), products_of_attention(shape));
}

template <ladon::Shape shape, class Precision>
void count_layer() {
  constexpr std::size_t Model = shape.model;
  constexpr ladon::Model config{.feed_forward = 4 * Model};
  using Layout = ladon::layout::InProj::With<Precision>;
  using Layer = ladon::EncoderLayer<config.with(shape), ladon::mask::Unmasked, Layout>;
  static typename Layer::Workspace workspace;
  const typename Layer::Weights weights{
      .attention = {.in_proj = linear<3 * Model, Model, Precision>(), .out_proj = linear<Model, Model, Precision>()},
      .linear1 = linear<4 * Model, Model, Precision>(),
      .linear2 = linear<Model, 4 * Model, Precision>(),
      .norm1 = {&bias[0], &bias[0]},
      .norm2 = {&bias[0], &bias[0]}};
  print_ratio(instructions([&] { Layer::run(&x[0], weights, &y[0], workspace); }),
              products_of_attention(shape) + 8 * std::uint64_t(shape.queries) * Model * Model);
}

template <ladon::Shape shape>
void count() {
  print_shape(shape);
  count_product<shape, Int8>();
  count_attention<shape>();
  count_layer<shape, Int8>();
  count_product<shape, Int4>();
  count_layer<shape, Int4>();
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
  for (std::uint8_t& each : codes) {
    state = state * 1664525u + 1013904223u;
    each = static_cast<std::uint8_t>(state >> 24);
  }
  board::print("int8 shape          product   attention       layer  product int4  layer int4\n");
  counting::for_each_shape([]<ladon::Shape S>() { count<S>(); });
}
