// Defines the terms that the tests in this folder use:
//   Subject    one instantiation of the library under test: its sizes, and a function that calls it. All subjects
//              have one type, so the code that checks subjects is compiled once.
//   Form       the parts of a mask, a score, an encoder or a decoder, as data: MaskForm, ScoreForm,
//              EncoderForm, DecoderForm. A form does not depend on lanes, tiles or key ranges, so the oracle
//              can compute with it.
//   Problem    weights and inputs: AttentionProblem, GivenProblem (q, k and v), EncoderProblem,
//              DecoderProblem
//   Variation  the part of a call that can change at run time: lengths, and the data of masks and scores
//              (variation.hpp)
//   Task       a problem and a variation, laid out as a subject takes them (guarded_run.hpp)
//   Call       the pointers and lengths of one call. run_guarded() makes several calls of each task.
//   Outcome    the results of a task: y, and one map for each layer (guarded_run.hpp)
//
// A test makes a task from a problem and a variation, runs the task in guarded memory (guarded_run.hpp), and compares
// the outcome with the oracle (oracle.hpp). check_attention(), check_given(), check_encoder() and check_decoder() do so
// for many variations.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ladon/ladon.hpp>

#include "forms.hpp"

namespace ladon_test {

// in_blocks: kv_heads blocks; values_first: two blocks, with the values before the keys (Model::projection_blocks).
enum class WeightLayout { in_proj, separate, in_out, per_head, in_proj_in_out, in_blocks, values_first };

// The parameters that can differ between calls of one subject: lengths, offsets and epsilon.
struct Lengths {
  std::size_t tokens = ladon::all;
  std::size_t queries = ladon::all;
  std::size_t keys = ladon::all;
  std::ptrdiff_t offset = bottom_right;
  std::size_t mask_keys = ladon::all;  // columns of a mask's data
  std::size_t rotary_offset = 0;
  float epsilon = 1e-5f;
};

// The arguments of one call of a subject. `weights` holds pointers to all tensors, in the order of the members of the
// weights struct: each weight, then its bias if it has a bias.
struct Call : Lengths {
  const float* x = nullptr;
  const float* context = nullptr;        // null: keys and values come from x
  const float* value_context = nullptr;  // null: values come from `context`
  const float* const* weights = nullptr;
  float* y = nullptr;
  void* workspace = nullptr;
  float* const* maps = nullptr;           // one for each layer; null: the overload without a map
  const std::uint8_t* may_see = nullptr;  // [keys]
  const std::uint8_t* pairs = nullptr;    // [heads or 1][queries][mask_keys]
  const std::uint32_t* bits = nullptr;    // [queries][words]
  const float* values = nullptr;          // [heads or 1][queries][mask_keys]
  const float* slopes = nullptr;          // [heads]
  const float* sinks = nullptr;           // [heads]
  bool capture = false;                   // maps[0] receives the scores at `stage`
  ladon::Stage stage = ladon::Stage::weights;
};

// Values of activation_bits for linear maps with bfloat16 weights:
//   bfloat16_weights          the inputs of products stay floats
//   bfloat16_products         the inputs of products are rounded to bfloat16, and sums to the nearest float
//   bfloat16_products_to_odd  the inputs of products are rounded to bfloat16, and sums to odd (BFDOT in
//                             detail/vec/dot.hpp)
inline constexpr int bfloat16_weights = 16, bfloat16_products = 17, bfloat16_products_to_odd = 18;

// Marks rotated int8 weights (layout::RotatedInt8). For these weights, activation_bits is the sum of `rotated` and the
// number of bits, 7 or 8.
inline constexpr int rotated = 32;

// Returns whether linear maps round their inputs to integers or to bfloat16. The last bits of an input may then decide
// to which neighbour the input is rounded. Tests therefore allow larger errors if rounds_inputs is true.
constexpr bool rounds_inputs(int activation_bits) {
  return activation_bits != 0 && activation_bits != bfloat16_weights;
}

// Whether a subject can write the attention weights (maps). The calls with and without maps are two instantiations.
enum class Maps { without, with };
// For tests of what layers compute behind their attention: only the wide test set instantiates calls with maps.
#if defined(LADON_TEST_WIDE)
inline constexpr Maps maps_of_wide_set = Maps::with;
#else
inline constexpr Maps maps_of_wide_set = Maps::without;
#endif

struct Subject {
  ladon::Shape shape;  // complete (Shape::complete)
  WeightLayout layout;
  std::size_t layers;  // also the number of maps
  std::size_t workspace_bytes;
  std::size_t cross_workspace_bytes;
  void (*run)(const Call&);
  MaskForm mask{};
  ScoreForm score{};
  bool captures = false;    // the subject can capture each stage
  int activation_bits = 0;  // not 0: an argument of `quantise` (weights.hpp)
  bool in_pairs = false;    // attention rounds its operands to bfloat16 (oracle::Score::in_pairs)
  ladon::QueryKeyNormKind norms{};
  float norm_epsilon = 1e-5f;  // of `norms`
  Maps maps = Maps::with;
};

}  // namespace ladon_test
