// The oracle computes the expected results of the library: attention, encoders and decoders in plain float64 loops,
// written for readability. The code follows the equations of "Attention Is All You Need" (arXiv 1706.03762). Each
// number is a Real, which also has a bound for the error of the float32 result (bound.hpp). The oracle has no panels,
// lanes, tiles or key blocks.
//
// Every weight matrix is [out][in], as in PyTorch.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <ladon/model.hpp>

#include "bound.hpp"
#include "oracle_score.hpp"

namespace ladon_test::oracle {

using ladon::Activation, ladon::Model, ladon::NormKind, ladon::NormOrder, ladon::Residual;

struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<Real> data;

  Matrix() = default;
  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), data(r * c) {}
  Matrix(std::size_t r, std::size_t c, const float* from) : rows(r), columns(c), data(from, from + r * c) {}
  Real& operator()(std::size_t row, std::size_t column) { return data[row * columns + column]; }
  const Real& operator()(std::size_t row, std::size_t column) const { return data[row * columns + column]; }
};

struct Linear {
  std::size_t out = 0;
  std::size_t in = 0;
  std::vector<float> weight;   // [out][in]
  std::vector<float> bias{};   // [out]; empty: no bias
  int activation_bits = 0;     // not 0: int8. `weight` then holds integers, and each row has a scale
  bool rotated = false;        // int8: `weight` holds integers of W H, and the inputs x become H x (hadamard)
  bool bfloat16 = false;       // the library reads bfloat16 weights; `weight` holds the values of these weights
  bool rounds_inputs = false;  // the library rounds the inputs to bfloat16
  bool rounds_to_odd = false;  // in addition, the library rounds sums of products to odd
  std::vector<float> scale{};  // [out]
};

// Returns element (row, column) of H (ladon/detail/panel/rows.hpp): 1, -1 or 0.
int hadamard(std::size_t row, std::size_t column);

struct Norm {
  std::vector<float> weight;
  std::vector<float> bias;  // empty in RMSNorm, and in a LayerNorm without a bias
  float epsilon = 1e-5f;
  bool one_plus_weight = false;  // the gain is 1 + weight
  bool omitted = false;          // the norm of x is x
};

struct AttentionWeights {
  Linear query;   // (heads * head_width, model)
  Linear key;     // (kv_heads * head_width, key_model)
  Linear value;   // (kv_heads * value_width, value_model)
  Linear output;  // (model, heads * value_width)
  Norm query_norm{}, key_norm{};
};

struct Heads {
  std::size_t heads = 1;
  std::size_t kv_heads = 1;  // head h reads the keys and values of head h / (heads / kv_heads)
  std::size_t head_width = 1;
  std::size_t value_width = 1;
  Score score{};
  ladon::QueryKeyNormKind norms{};
};

struct LayerWeights {
  AttentionWeights attention;
  Linear gate;  // empty: the feed-forward network has no gate
  Linear linear1;
  Linear linear2;
  Norm norm1;
  Norm norm2;
  // Empty unless the model uses them (ladon::EncoderLayerWeights).
  Norm output_norm1{}, output_norm2{};
  std::vector<float> scale1{}, scale2{}, activation{};
  std::vector<float> attention_bias{};  // [heads][tokens][tokens]
};

struct DecoderLayerWeights {
  LayerWeights own;  // the member `attention` is the self-attention
  AttentionWeights cross;
  Norm norm3;
  Norm output_norm3{};  // empty unless NormOrder::both
};

using MaySee = std::function<bool(std::size_t query, std::size_t key)>;

// The results of attention. The vectors have one matrix [queries][keys] for each head. `weights` holds the weights of
// the softmax. `scaled` holds the products q k^T times the scale, `capped` the scores after the softcap, and `masked`
// the scores after the mask. In `masked`, hidden pairs of query and key are -inf with a deviation of 0.
struct Attended {
  Matrix out{};
  std::vector<Matrix> weights{};
  std::vector<Matrix> scaled{}, capped{}, masked{};
};

// Appends the results of one head, `head`, to the results of all heads, `all`. Does not append the output of the head.
void append(Attended& all, Attended head);

// Computes softmax(score(q, k)) v of one head over the keys that each query may see. If a query sees no key, its output
// is 0.
Attended attend(const Matrix& q, const Matrix& k, const Matrix& v, const Score& form, std::size_t head,
                const MaySee& may_see);

Attended multi_head_attention(const Matrix& x, const Matrix& context, const AttentionWeights& weights,
                              const Heads& heads, const MaySee& may_see);

// Computes attention whose keys and values come from different inputs, [keys][key_model] and [keys][value_model].
Attended multi_head_attention(const Matrix& x, const Matrix& key_input, const Matrix& value_input,
                              const AttentionWeights& weights, const Heads& heads, const MaySee& may_see);

// The keys and values in a cache, [tokens][features of all heads]. The keys are already rotated.
struct Stored {
  Matrix keys, values;
};

// Returns the keys and values of the tokens `context`. A cache that does not round would hold these numbers.
Stored project_keys(const Matrix& context, const AttentionWeights& weights, const Heads& heads);

// Computes attention of x to the keys and values in a cache.
Attended attend_stored(const Matrix& x, const Stored& stored, const AttentionWeights& weights, const Heads& heads,
                       const MaySee& may_see);

// Returns the rotated queries or keys of one head. The first row has the position `first`.
Matrix rotate(const Matrix& rows, const Rotary& rotary, std::size_t first);

Matrix linear(const Linear& w, const Matrix& x);
Matrix layer_norm(const Norm& norm, const Matrix& x);
Matrix rms_norm(const Norm& norm, const Matrix& x);
Matrix normalized(NormKind kind, const Norm& norm, const Matrix& x);
// Returns the kind of norm2 (decoders: norm3).
NormKind feed_forward_norm_kind(const Model& config);
Matrix feed_forward(const LayerWeights& weights, const Model& config, const Matrix& x);

// Computes an encoder layer. The first `queries` tokens of x are queries, and the first `keys` tokens are keys.
// `may_see` returns whether a query sees a key.
Attended encoder_layer(const Matrix& x, const LayerWeights& weights, const Heads& heads, const Model& config,
                       std::size_t queries, std::size_t keys, const MaySee& may_see);

// The results of a decoder layer: the output, and the attention weights of self-attention and of the attention to the
// memory.
struct Decoded {
  Matrix out;
  std::vector<Matrix> self_weights;
  std::vector<Matrix> memory_weights;
};

// Computes a decoder layer. `may_see` returns whether a query sees a key of self-attention. `memory_seen` returns
// whether a query sees a token of `memory`.
Decoded decoder_layer(const Matrix& x, const Matrix& memory, const DecoderLayerWeights& weights, const Heads& heads,
                      const Model& config, std::size_t queries, std::size_t keys, const MaySee& may_see,
                      const MaySee& memory_seen);

}  // namespace ladon_test::oracle
