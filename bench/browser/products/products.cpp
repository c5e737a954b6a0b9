// Computes only the matrix products in the feed-forward networks of MiniLM. CMake compiles this file to a module for
// each precision of the weights. `./dev bench browser --precision int8` measures which share of the engine's peak the
// function `product` reaches. The function `product` also quantises its input. The function `chain` computes several
// products one after another, and is compared with other packages. kernel.mjs calls the modules.
//
// The functions read and write panels: [128 / width][features][width], where `width` consecutive tokens lie side by
// side. LADON_PRODUCTS_PRECISION is the type of the weights, Float32 or Int8<8>.
#include <cstddef>
#include <cstdint>

#include <ladon/ladon.hpp>

#include <ladon/detail/panel/product_input.hpp>
#include <ladon/detail/panel/rows.hpp>
#include <ladon/detail/product/product.hpp>
#include <ladon/detail/vec/token_scale.hpp>

namespace {

using namespace ladon;
using namespace ladon::detail;

using Precision = precision::LADON_PRODUCTS_PRECISION;
using Simd = vec::NativeVectors;
constexpr std::size_t tokens = 128, model = 384, hidden = 1536;
constexpr PanelLayout token_layout = panel_layout<Simd>(tokens);
constexpr std::size_t width = token_layout.width();
constexpr std::size_t panels = token_layout.panels(tokens), packs = width / token_layout.lanes;
static_assert(panels * width == tokens);

// Points to the weights of one matrix product, [rows][inner]. For float32 weights, `scale` and `row_sum` are not used.
struct Weights {
  const void* weight;
  const float* scale;
  const std::int32_t* row_sum;
  const float* bias;
};

LinearInput<Precision, Simd, tokens, hidden, token_layout> input;

template <std::size_t Rows, std::size_t Inner>
void multiply(const float* in, const Weights& w, float* out) {
  const auto view = input.template convert<Simd, token_layout, packs, Inner>(in, 0, panels);
  const Epilogue<width> epilogue{out, width * Rows};
  if constexpr (precision::is_int8<Precision>) {
    const auto* const weight = static_cast<const std::int8_t*>(w.weight);
    const Int8Rows<Inner, BiasVector> rows{{weight}, w.scale, w.row_sum, {w.bias}};
    matmul<Simd, token_layout, packs, Rows, Inner>(rows, view, panels, epilogue);
  } else {
    const auto* const weight = static_cast<const float*>(w.weight);
    const WeightRows<WeightMatrix<float, Inner, 1>, BiasVector> rows{{weight}, {w.bias}};
    matmul<Simd, token_layout, packs, Rows, Inner>(rows, view, panels, epilogue);
  }
}

}  // namespace

extern "C" {

// Returns the number of tokens that lie side by side in a panel.
__attribute__((export_name("width"))) std::size_t width_of_panels() { return width; }

// Multiplies 128 tokens by the matrix `w`. The tokens in `in` have 384 features, and the tokens in `out` have 1536.
__attribute__((export_name("product"))) void product(const float* in, const Weights* w, float* out) {
  multiply<hidden, model>(in, *w, out);
}

// Computes `count` products, each on the result of the previous product. `count` is even. Products of 128 x 384 x 1536
// and of 128 x 1536 x 384 alternate. `between` holds results of 1536 features. `in` and `out` have 384 features.
__attribute__((export_name("chain"))) void chain(const float* in, const Weights* w, std::size_t count, float* between,
                                                 float* out) {
  for (std::size_t i = 0; i < count; i += 2, in = out) {
    multiply<hidden, model>(in, w[i], between);
    multiply<model, hidden>(between, w[i + 1], out);
  }
}

// Sets the format to which inputs are quantised: 7 or 8 bits, signed or unsigned bytes. The int8 modules of
// ladon_add_kernel export a function of the same name (src/c_kernel/module_int8.cpp.in).
__attribute__((export_name("set_activations"))) void set_activations(std::size_t bits, int is_signed) {
  const bool is_shifted = bits == 8 && is_signed != 0;
  vec::run_time_levels = {bits == 8 ? 255.0f : 127.0f, is_shifted ? -128.0f : 0.0f};
}
}
