// SPDX-License-Identifier: Apache-2.0
#include "checkpoint_names.hpp"

namespace ladon::weights {
namespace {

// The tensor names of torch.nn.MultiheadAttention. If kdim or vdim is given, q_proj_weight, k_proj_weight and
// v_proj_weight replace in_proj_weight. The name in_proj_bias does not depend on kdim and vdim.
constexpr Row pytorch_attention[] = {
    {"in_proj_weight", "in_proj_weight"},   {"in_proj_bias", "in_proj_bias"},
    {"query_proj_weight", "q_proj_weight"}, {"key_proj_weight", "k_proj_weight"},
    {"value_proj_weight", "v_proj_weight"}, {"out_proj_weight", "out_proj.weight"},
    {"out_proj_bias", "out_proj.bias"},
};
// The tensor names of torch.nn.TransformerEncoderLayer. TransformerDecoderLayer also has norm3.
constexpr Row pytorch_layer[] = {
    {"linear1_weight", "linear1.weight"}, {"linear1_bias", "linear1.bias"}, {"linear2_weight", "linear2.weight"},
    {"linear2_bias", "linear2.bias"},     {"norm1_weight", "norm1.weight"}, {"norm1_bias", "norm1.bias"},
    {"norm2_weight", "norm2.weight"},     {"norm2_bias", "norm2.bias"},     {"norm3_weight", "norm3.weight"},
    {"norm3_bias", "norm3.bias"},
};
// The tensor names of torch.nn.TransformerEncoder and TransformerDecoder.
constexpr Row pytorch_stack[] = {{"norm_weight", "norm.weight"}, {"norm_bias", "norm.bias"}};

// The tensor names of BertAttention in Hugging Face's library transformers.
constexpr Row bert_attention[] = {
    {"query_proj_weight", "self.query.weight"}, {"query_proj_bias", "self.query.bias"},
    {"key_proj_weight", "self.key.weight"},     {"key_proj_bias", "self.key.bias"},
    {"value_proj_weight", "self.value.weight"}, {"value_proj_bias", "self.value.bias"},
    {"out_proj_weight", "output.dense.weight"}, {"out_proj_bias", "output.dense.bias"},
};
// The tensor names of transformers' BertLayer. In the oldest checkpoints, which were converted from TensorFlow, a norm
// has the tensors gamma (weight) and beta (bias).
constexpr Row bert_layer[] = {
    {"linear1_weight", "intermediate.dense.weight"},
    {"linear1_bias", "intermediate.dense.bias"},
    {"linear2_weight", "output.dense.weight"},
    {"linear2_bias", "output.dense.bias"},
    {"norm1_weight", "attention.output.LayerNorm.weight"},
    {"norm1_weight", "attention.output.LayerNorm.gamma"},
    {"norm1_bias", "attention.output.LayerNorm.bias"},
    {"norm1_bias", "attention.output.LayerNorm.beta"},
    {"norm2_weight", "output.LayerNorm.weight"},
    {"norm2_weight", "output.LayerNorm.gamma"},
    {"norm2_bias", "output.LayerNorm.bias"},
    {"norm2_bias", "output.LayerNorm.beta"},
};

// The tensor names of transformers' LlamaAttention, and of Qwen2Attention, which has biases.
constexpr Row llama_attention[] = {
    {"query_proj_weight", "q_proj.weight"}, {"query_proj_bias", "q_proj.bias"},
    {"key_proj_weight", "k_proj.weight"},   {"key_proj_bias", "k_proj.bias"},
    {"value_proj_weight", "v_proj.weight"}, {"value_proj_bias", "v_proj.bias"},
    {"out_proj_weight", "o_proj.weight"},   {"out_proj_bias", "o_proj.bias"},
};
// The tensor names of transformers' LlamaDecoderLayer, and of StableLmDecoderLayer, whose norms have biases.
constexpr Row llama_layer[] = {
    {"gate_weight", "mlp.gate_proj.weight"},
    {"gate_bias", "mlp.gate_proj.bias"},
    {"linear1_weight", "mlp.up_proj.weight"},
    {"linear1_bias", "mlp.up_proj.bias"},
    {"linear2_weight", "mlp.down_proj.weight"},
    {"linear2_bias", "mlp.down_proj.bias"},
    {"norm1_weight", "input_layernorm.weight"},
    {"norm1_bias", "input_layernorm.bias"},
    {"norm2_weight", "post_attention_layernorm.weight"},
    {"norm2_bias", "post_attention_layernorm.bias"},
};
// The tensor names of transformers' LlamaModel, and of StableLmModel, whose norm has a bias.
constexpr Row llama_stack[] = {{"norm_weight", "norm.weight"}, {"norm_bias", "norm.bias"}};

constexpr Convention all[] = {
    {"PyTorch", "layers", "self_attn", "multihead_attn", pytorch_attention, pytorch_layer, pytorch_stack},
    {"Hugging Face BERT", "encoder.layer", "attention", "", bert_attention, bert_layer, {}},
    {"Hugging Face Llama", "layers", "self_attn", "", llama_attention, llama_layer, llama_stack},
};

}  // namespace

std::span<const Convention> conventions() { return all; }

}  // namespace ladon::weights
