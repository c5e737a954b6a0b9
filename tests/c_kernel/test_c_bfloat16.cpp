// Tests a kernel with bfloat16 weights against the oracle. Code for AVX512_BF16 and for BFDOT rounds the inputs of
// products to bfloat16, and code for the other instruction sets does not. Code for AVX512_BF16 also rounds the operands
// of attention. The test makes the oracle round the numbers that the tested code rounds.
#include <doctest/doctest.h>

#include "c_bfloat16_layer.h"
#include "c_subject.hpp"
#include "each_isa.hpp"
#include "encoder_check.hpp"
#include "preferred_isa.hpp"
#include "weight_views.hpp"

namespace ladon_test {

TEST_CASE("bfloat16, every instruction set: an encoder layer") {
  constexpr ladon::Shape shape{.queries = 17, .model = 12, .heads = 3};
  constexpr auto run = c_bfloat16_layer_run_with;
  each_isa<shape, C_BFLOAT16_LAYER_WORKSPACE_BYTES, c_bfloat16_layer_weights, c_bfloat16_layer_options, run>(
      1, [](Subject subject, int isa) {
        int activation_bits = ladon_test::activation_bits<ladon::precision::BFloat16>;
        if constexpr (requires(c_bfloat16_layer_options options) { options.isa; }) {
          const auto calls = [&]<int Isa>() {
            return calls_preferred<run, c_bfloat16_layer_weights, c_bfloat16_layer_options, Isa>(isa);
          };
          activation_bits = calls.template operator()<LADON_ISA_AVX512_BF16>() ? bfloat16_products
                            : calls.template operator()<LADON_ISA_NEON_BF16>() ? bfloat16_products_to_odd
                                                                               : bfloat16_weights;
        }
        subject.mask = {.padding = true};
        subject.in_pairs = activation_bits == bfloat16_products;
        check_encoder(subject, {.layer = {.feed_forward = 21}, .activation_bits = activation_bits});
      });
}

}  // namespace ladon_test
