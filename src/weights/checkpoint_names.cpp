// SPDX-License-Identifier: Apache-2.0
#include "checkpoint_names.hpp"

namespace ladon::weights {
namespace {

using enum Cut;

// The tables of attention.

// torch.nn.MultiheadAttention. If kdim or vdim is given, q_proj_weight, k_proj_weight and v_proj_weight replace
// in_proj_weight. The name in_proj_bias does not depend on kdim and vdim.
constexpr Row pytorch_attention[] = {
    {"in_proj_weight", "in_proj_weight"},   {"in_proj_bias", "in_proj_bias"},
    {"query_proj_weight", "q_proj_weight"}, {"key_proj_weight", "k_proj_weight"},
    {"value_proj_weight", "v_proj_weight"}, {"out_proj", "out_proj"},
};
constexpr Row bert_attention[] = {
    {"query_proj", "self.query"},
    {"key_proj", "self.key"},
    {"value_proj", "self.value"},
    {"out_proj", "output.dense"},
};
// StableLM has the second names of the norms. `sinks` of gpt-oss are data of the score.
constexpr Row llama_attention[] = {
    {"query_proj", "q_proj"},
    {"key_proj", "k_proj"},
    {"value_proj", "v_proj"},
    {"out_proj", "o_proj"},
    {"in_proj", "qkv_proj"},
    {"query_norm", "q_norm"},
    {"query_norm", "q_layernorm"},
    {"key_norm", "k_norm"},
    {"key_norm", "k_layernorm"},
    {"", "sinks", unused},
    {"query_norm", "q_layernorm.norms.*"},
    {"key_norm", "k_layernorm.norms.*"},
};
// LFM2 has norms of queries and keys.
constexpr Row bart_attention[] = {
    {"query_proj", "q_proj"}, {"key_proj", "k_proj"},        {"value_proj", "v_proj"},
    {"out_proj", "out_proj"}, {"query_norm", "q_layernorm"}, {"key_norm", "k_layernorm"},
    {"", "bias", unused},     {"", "masked_bias", unused},  // masks of GPT-J and GPT-Neo
};
constexpr Row bart_attention_without_key_bias[] = {
    {"query_proj", "q_proj"},
    {"key_proj_weight", "k_proj.weight"},
    {"key_proj_bias", "k_proj.bias", absent},
    {"value_proj", "v_proj"},
    {"out_proj", "out_proj"},
};
constexpr Row nanochat_attention[] = {
    {"query_proj", "q_proj"},
    {"key_proj", "k_proj"},
    {"value_proj", "v_proj"},
    {"out_proj", "o_proj"},
    {"query_norm_weight", "q_norm.weight", absent},
    {"key_norm_weight", "k_norm.weight", absent},
};
constexpr Row phi_attention[] = {
    {"query_proj", "q_proj"}, {"key_proj", "k_proj"},        {"value_proj", "v_proj"},
    {"out_proj", "dense"},    {"query_norm", "q_layernorm"}, {"key_norm", "k_layernorm"},
};
constexpr Row neox_attention[] = {
    {"in_proj", "query_key_value", kv_blocks},
    {"out_proj", "dense"},
    {"query_norm", "q_layernorm"},
    {"key_norm", "k_layernorm"},
    {"", "bias", unused},
    {"", "masked_bias", unused},
};
constexpr Row gpt2_attention[] = {
    {"in_proj", "c_attn"}, {"out_proj", "c_proj"}, {"", "bias", unused}, {"", "masked_bias", unused}};
constexpr Row bigcode_attention[] = {{"in_proj", "c_attn", kv_blocks}, {"out_proj", "c_proj"}};
constexpr Row codegen_attention[] = {
    {"in_proj", "qkv_proj", four_blocks}, {"out_proj", "out_proj"}, {"", "causal_mask", unused}};
constexpr Row t5_attention[] = {{"query_proj", "q"},
                                {"key_proj", "k"},
                                {"value_proj", "v"},
                                {"out_proj", "o"},
                                {"", "relative_attention_bias.weight", unused}};
constexpr Row vit_attention[] = {{"query_proj", "attention.query"},
                                 {"key_proj", "attention.key"},
                                 {"value_proj", "attention.value"},
                                 {"out_proj", "output.dense"}};
constexpr Row beit_attention[] = {
    {"query_proj", "attention.query"},
    {"key_proj_weight", "attention.key.weight"},
    {"key_proj_bias", "attention.key.bias", absent},
    {"value_proj", "attention.value"},
    {"out_proj", "output.dense"},
    {"", "attention.relative_position_bias.relative_position_bias_table", unused},
    {"", "attention.relative_position_bias.relative_position_index", unused},
};
constexpr Row videomae_attention[] = {
    {"query_proj_weight", "attention.query.weight"},
    {"query_proj_bias", "attention.q_bias"},
    {"key_proj_weight", "attention.key.weight"},
    {"key_proj_bias", "attention.key.bias", absent},
    {"value_proj_weight", "attention.value.weight"},
    {"value_proj_bias", "attention.v_bias"},
    {"out_proj", "output.dense"},
};
constexpr Row dinov3_attention[] = {
    {"query_proj", "q_proj"},
    {"key_proj_weight", "k_proj.weight"},
    {"key_proj_bias", "k_proj.bias", absent},
    {"value_proj", "v_proj"},
    {"out_proj", "o_proj"},
};
constexpr Row albert_attention[] = {
    {"query_proj", "query"}, {"key_proj", "key"}, {"value_proj", "value"}, {"out_proj", "dense"}};
constexpr Row distilbert_attention[] = {
    {"query_proj", "q_lin"}, {"key_proj", "k_lin"}, {"value_proj", "v_lin"}, {"out_proj", "out_lin"}};
constexpr Row mpnet_attention[] = {
    {"query_proj", "attn.q"}, {"key_proj", "attn.k"}, {"value_proj", "attn.v"}, {"out_proj", "attn.o"}};
constexpr Row deberta_attention[] = {{"query_proj", "self.query_proj"},
                                     {"key_proj", "self.key_proj"},
                                     {"value_proj", "self.value_proj"},
                                     {"out_proj", "output.dense"}};
constexpr Row modernbert_attention[] = {{"in_proj", "Wqkv"}, {"out_proj", "Wo"}};
constexpr Row nomic_attention[] = {{"in_proj", "Wqkv"}, {"out_proj", "out_proj"}};
// WavLM adds a bias to the scores, which is computed from the layer's input.
constexpr Row wav2vec2_attention[] = {
    {"query_proj", "q_proj"},
    {"key_proj", "k_proj"},
    {"value_proj", "v_proj"},
    {"out_proj", "out_proj"},
    {"", "gru_rel_pos_const", unused},
    {"", "gru_rel_pos_linear.weight", unused},
    {"", "gru_rel_pos_linear.bias", unused},
    {"", "rel_attn_embed.weight", unused},
};
constexpr Row timesfm_attention[] = {
    {"query_proj", "q_proj", times_scaling},
    {"key_proj", "k_proj"},
    {"value_proj", "v_proj"},
    {"out_proj", "o_proj"},
    {"", "scaling", unused},
};

// The tables of feed-forward networks.

constexpr Row pytorch_feed_forward[] = {{"linear1", "linear1"}, {"linear2", "linear2"}};
constexpr Row bert_feed_forward[] = {{"linear1", "intermediate.dense"}, {"linear2", "output.dense"}};
// Nemotron, Arcee and Apertus have no gate. Phi-3 and GLM have gate_up_proj. Apertus has xIELU.
constexpr Row llama_feed_forward[] = {
    {"gate", "mlp.gate_proj"},
    {"linear1", "mlp.up_proj"},
    {"linear2", "mlp.down_proj"},
    {"gate+linear1", "mlp.gate_up_proj"},
};
constexpr Row apertus_feed_forward[] = {
    {"linear1", "mlp.up_proj"},           {"linear2", "mlp.down_proj"},    {"activation", "mlp.act_fn.alpha_p"},
    {"activation", "mlp.act_fn.alpha_n"}, {"", "mlp.act_fn.beta", unused}, {"", "mlp.act_fn.eps", unused},
};
constexpr Row fc[] = {{"linear1", "fc1"}, {"linear2", "fc2"}};
constexpr Row mlp_fc[] = {{"linear1", "mlp.fc1"}, {"linear2", "mlp.fc2"}};
constexpr Row moonshine_decoder_feed_forward[] = {{"linear1+gate", "mlp.fc1"}, {"linear2", "mlp.fc2"}};
constexpr Row dinov2_feed_forward[] = {
    {"linear1", "mlp.fc1"}, {"linear2", "mlp.fc2"}, {"gate+linear1", "mlp.weights_in"}, {"linear2", "mlp.weights_out"}};
constexpr Row neox_feed_forward[] = {{"linear1", "mlp.dense_h_to_4h"}, {"linear2", "mlp.dense_4h_to_h"}};
constexpr Row gpt2_feed_forward[] = {{"linear1", "mlp.c_fc"}, {"linear2", "mlp.c_proj"}};
constexpr Row gptj_feed_forward[] = {{"linear1", "mlp.fc_in"}, {"linear2", "mlp.fc_out"}};
constexpr Row t5_encoder_feed_forward[] = {{"linear1", "layer.1.DenseReluDense.wi"},
                                           {"gate", "layer.1.DenseReluDense.wi_0"},
                                           {"linear1", "layer.1.DenseReluDense.wi_1"},
                                           {"linear2", "layer.1.DenseReluDense.wo"}};
constexpr Row t5_decoder_feed_forward[] = {{"linear1", "layer.2.DenseReluDense.wi"},
                                           {"gate", "layer.2.DenseReluDense.wi_0"},
                                           {"linear1", "layer.2.DenseReluDense.wi_1"},
                                           {"linear2", "layer.2.DenseReluDense.wo"}};
constexpr Row albert_feed_forward[] = {{"linear1", "ffn"}, {"linear2", "ffn_output"}};
constexpr Row distilbert_feed_forward[] = {{"linear1", "ffn.lin1"}, {"linear2", "ffn.lin2"}};
constexpr Row nomic_feed_forward[] = {{"linear1", "mlp.fc11"}, {"gate", "mlp.fc12"}, {"linear2", "mlp.fc2"}};
constexpr Row modernbert_feed_forward[] = {{"gate+linear1", "mlp.Wi"}, {"linear2", "mlp.Wo"}};
constexpr Row gte_feed_forward[] = {
    {"linear1+gate", "mlp.up_gate_proj"},
    {"linear1_bias", "mlp.up_gate_proj.bias", absent},
    {"gate_bias", "mlp.up_gate_proj.bias", absent},
    {"linear2", "mlp.down_proj"},
};
constexpr Row lfm2_feed_forward[] = {
    {"gate", "feed_forward.w1"}, {"linear1", "feed_forward.w3"}, {"linear2", "feed_forward.w2"}};
constexpr Row wav2vec2_feed_forward[] = {{"linear1", "feed_forward.intermediate_dense"},
                                         {"linear2", "feed_forward.output_dense"}};
constexpr Row patchtst_feed_forward[] = {{"linear1", "ff.0"}, {"linear2", "ff.3"}};
constexpr Row timesfm_feed_forward[] = {{"linear1", "mlp.gate_proj"}, {"linear2", "mlp.down_proj"}};

// The tables of a layer's norms and scales.

constexpr Row pytorch_norms[] = {{"norm1", "norm1"}, {"norm2", "norm2"}, {"norm3", "norm3"}};
// In the oldest checkpoints, which were converted from TensorFlow, a norm has the tensors gamma (weight) and beta
// (bias).
constexpr Row bert_norms[] = {
    {"norm1", "attention.output.LayerNorm"},           {"norm1_weight", "attention.output.LayerNorm.gamma"},
    {"norm1_bias", "attention.output.LayerNorm.beta"}, {"norm2", "output.LayerNorm"},
    {"norm2_weight", "output.LayerNorm.gamma"},        {"norm2_bias", "output.LayerNorm.beta"},
};
constexpr Row esm_norms[] = {
    {"norm1", "attention.LayerNorm"},           {"norm1_weight", "attention.LayerNorm.gamma"},
    {"norm1_bias", "attention.LayerNorm.beta"}, {"norm2", "LayerNorm"},
    {"norm2_weight", "LayerNorm.gamma"},        {"norm2_bias", "LayerNorm.beta"},
};
constexpr Row llama_norms[] = {{"norm1", "input_layernorm"}, {"norm2", "post_attention_layernorm"}};
constexpr Row absent_norms[] = {
    {"norm1_weight", "input_layernorm.weight", absent},
    {"norm1_bias", "input_layernorm.bias", absent},
    {"norm2_weight", "post_attention_layernorm.weight", absent},
    {"norm2_bias", "post_attention_layernorm.bias", absent},
};
constexpr Row gemma2_norms[] = {{"norm1", "input_layernorm"},
                                {"output_norm1", "post_attention_layernorm"},
                                {"norm2", "pre_feedforward_layernorm"},
                                {"output_norm2", "post_feedforward_layernorm"}};
constexpr Row t5gemma_norms[] = {{"norm1", "pre_self_attn_layernorm"},
                                 {"output_norm1", "post_self_attn_layernorm"},
                                 {"norm2", "pre_feedforward_layernorm"},
                                 {"output_norm2", "post_feedforward_layernorm"}};
constexpr Row t5gemma_decoder_norms[] = {
    {"norm1", "pre_self_attn_layernorm"},   {"output_norm1", "post_self_attn_layernorm"},
    {"norm2", "pre_cross_attn_layernorm"},  {"output_norm2", "post_cross_attn_layernorm"},
    {"norm3", "pre_feedforward_layernorm"}, {"output_norm3", "post_feedforward_layernorm"}};
constexpr Row glm4_norms[] = {{"norm1", "input_layernorm"},
                              {"output_norm1", "post_self_attn_layernorm"},
                              {"norm2", "post_attention_layernorm"},
                              {"output_norm2", "post_mlp_layernorm"}};
constexpr Row olmo2_norms[] = {{"norm1", "post_attention_layernorm"}, {"norm2", "post_feedforward_layernorm"}};
constexpr Row apertus_norms[] = {{"norm1", "attention_layernorm"}, {"norm2", "feedforward_layernorm"}};
constexpr Row lfm2_norms[] = {{"norm1", "operator_norm"}, {"norm2", "ffn_norm"}};
constexpr Row falcon_norms[] = {
    {"norm1", "input_layernorm"}, {"norm1", "ln_attn"}, {"norm2", "post_attention_layernorm"}, {"norm2", "ln_mlp"}};
constexpr Row gpt_norms[] = {{"norm1", "ln_1"}, {"norm2", "ln_2"}};
constexpr Row bart_norms[] = {{"norm1", "self_attn_layer_norm"}, {"norm2", "final_layer_norm"}};
constexpr Row bart_decoder_norms[] = {
    {"norm1", "self_attn_layer_norm"}, {"norm2", "encoder_attn_layer_norm"}, {"norm3", "final_layer_norm"}};
constexpr Row t5_encoder_norms[] = {{"norm1", "layer.0.layer_norm"}, {"norm2", "layer.1.layer_norm"}};
constexpr Row t5_decoder_norms[] = {
    {"norm1", "layer.0.layer_norm"}, {"norm2", "layer.1.layer_norm"}, {"norm3", "layer.2.layer_norm"}};
constexpr Row moonshine_decoder_norms[] = {
    {"norm1", "input_layernorm"}, {"norm2", "post_attention_layernorm"}, {"norm3", "final_layernorm"}};
constexpr Row clip_norms[] = {{"norm1", "layer_norm1"}, {"norm2", "layer_norm2"}};
constexpr Row vit_norms[] = {{"norm1", "layernorm_before"}, {"norm2", "layernorm_after"}};
constexpr Row beit_norms[] = {
    {"norm1", "layernorm_before"},
    {"norm2", "layernorm_after"},
    {"scale1", "lambda_1"},
    {"scale2", "lambda_2"},
    {"attention_bias", "attention.attention.relative_position_bias.relative_position_bias_table"}};
constexpr Row dino_norms[] = {
    {"norm1", "norm1"}, {"norm2", "norm2"}, {"scale1", "layer_scale1.lambda1"}, {"scale2", "layer_scale2.lambda1"}};
constexpr Row albert_norms[] = {{"norm1", "attention.LayerNorm"}, {"norm2", "full_layer_layer_norm"}};
constexpr Row distilbert_norms[] = {{"norm1", "sa_layer_norm"}, {"norm2", "output_layer_norm"}};
constexpr Row mpnet_norms[] = {{"norm1", "attention.LayerNorm"}, {"norm2", "output.LayerNorm"}};
constexpr Row modernbert_norms[] = {
    {"norm1_weight", "attn_norm.weight", absent_in_first}, {"norm1", "attn_norm"}, {"norm2", "mlp_norm"}};
constexpr Row gte_norms[] = {{"norm1", "attn_ln"}, {"norm2", "mlp_ln"}};
constexpr Row wav2vec2_norms[] = {{"norm1", "layer_norm"}, {"norm2", "final_layer_norm"}};
constexpr Row patchtst_norms[] = {{"norm1", "norm_sublayer1"}, {"norm2", "norm_sublayer3"}};
constexpr Row timesfm_norms[] = {{"norm1", "input_layernorm"}, {"norm2", "mlp.layer_norm"}};

// The last norm of a stack.
constexpr Row norm[] = {{"norm", "norm"}};
constexpr Row absent_norm[] = {{"norm_weight", "norm.weight", absent}, {"norm_bias", "norm.bias", absent}};
constexpr Row embedding_norm[] = {{"norm", "embedding_norm"}};
constexpr Row final_norm[] = {{"norm", "final_norm"}};
constexpr Row final_layernorm[] = {{"norm", "final_layernorm"}};
constexpr Row final_layer_norm[] = {{"norm", "final_layer_norm"}};
constexpr Row layer_norm[] = {{"norm", "layer_norm"}};
constexpr Row bart_stack[] = {{"norm", "layer_norm"}, {"norm", "final_layer_norm"}};  // OPT has the second name
constexpr Row ln_f[] = {{"norm", "ln_f"}};
constexpr Row esm_stack[] = {{"norm", "emb_layer_norm_after"},
                             {"norm_weight", "emb_layer_norm_after.gamma"},
                             {"norm_bias", "emb_layer_norm_after.beta"}};
constexpr Row vit_stack[] = {{"norm", "^layernorm"}};
// In CLIP's encoder of images, post_layernorm is only for the pooled output.
constexpr Row clip_stack[] = {{"norm", "^final_layer_norm"},
                              {"norm", "^post_layernorm"},
                              {"", "^post_layernorm.weight", unused},
                              {"", "^post_layernorm.bias", unused}};
// In wav2vec2-base, this norm is before the layers.
constexpr Row wav2vec2_stack[] = {
    {"norm", "layer_norm"}, {"", "layer_norm.weight", unused}, {"", "layer_norm.bias", unused}};

// If two conventions have the same names for all tensors of a kernel, the first one is used.
constexpr Convention all[] = {
    {"PyTorch", "self_attn", "", pytorch_attention, {pytorch_feed_forward, pytorch_norms}, norm},
    {"PyTorch", "self_attn", "multihead_attn", pytorch_attention, {pytorch_feed_forward, pytorch_norms}, norm},
    {"Hugging Face BERT", "attention", "", bert_attention, {bert_feed_forward, bert_norms}, {}},
    {"Hugging Face Llama", "self_attn", "", llama_attention, {llama_feed_forward, llama_norms}, norm},
    {"Hugging Face Gemma 2", "self_attn", "", llama_attention, {llama_feed_forward, gemma2_norms}, norm},
    {"Hugging Face T5Gemma", "self_attn", "", llama_attention, {llama_feed_forward, t5gemma_norms}, norm},
    {"Hugging Face T5Gemma",
     "self_attn",
     "cross_attn",
     llama_attention,
     {llama_feed_forward, t5gemma_decoder_norms},
     norm},
    {"Hugging Face GLM-4", "self_attn", "", llama_attention, {llama_feed_forward, glm4_norms}, norm},
    {"Hugging Face OLMo 2", "self_attn", "", llama_attention, {llama_feed_forward, olmo2_norms}, norm},
    {"Hugging Face OLMo", "self_attn", "", llama_attention, {llama_feed_forward, absent_norms}, absent_norm},
    {"Hugging Face NanoChat", "self_attn", "", nanochat_attention, {mlp_fc, absent_norms}, absent_norm},
    {"Hugging Face Apertus", "self_attn", "", llama_attention, {apertus_feed_forward, apertus_norms}, norm},
    {"Hugging Face LFM2", "self_attn", "", bart_attention, {lfm2_feed_forward, lfm2_norms}, embedding_norm},
    {"Hugging Face StarCoder2", "self_attn", "", llama_attention, {gpt2_feed_forward, llama_norms}, norm},
    {"Hugging Face Phi", "self_attn", "", phi_attention, {mlp_fc, llama_norms}, final_layernorm},
    {"Hugging Face Persimmon", "self_attn", "", neox_attention, {neox_feed_forward, llama_norms}, final_layernorm},
    {"Hugging Face GPT-NeoX", "attention", "", neox_attention, {neox_feed_forward, llama_norms}, final_layer_norm},
    {"Hugging Face BLOOM and Falcon", "self_attention", "", neox_attention, {neox_feed_forward, falcon_norms}, ln_f},
    {"Hugging Face GPT-2", "attn", "", gpt2_attention, {gpt2_feed_forward, gpt_norms}, ln_f, true},
    {"Hugging Face GPT-BigCode", "attn", "", bigcode_attention, {gpt2_feed_forward, gpt_norms}, ln_f},
    {"Hugging Face GPT-Neo", "attn.attention", "", bart_attention, {gpt2_feed_forward, gpt_norms}, ln_f},
    {"Hugging Face GPT-J", "attn", "", bart_attention, {gptj_feed_forward, gpt_norms}, ln_f},
    {"Hugging Face CodeGen", "attn", "", codegen_attention, {gptj_feed_forward, gpt_norms}, ln_f},
    {"Hugging Face BART", "self_attn", "", bart_attention, {fc, bart_norms}, bart_stack},
    {"Hugging Face BART", "self_attn", "encoder_attn", bart_attention, {fc, bart_decoder_norms}, bart_stack},
    {"Hugging Face Whisper", "self_attn", "", bart_attention_without_key_bias, {fc, bart_norms}, bart_stack},
    {"Hugging Face Whisper",
     "self_attn",
     "encoder_attn",
     bart_attention_without_key_bias,
     {fc, bart_decoder_norms},
     bart_stack},
    {"Hugging Face T5",
     "layer.0.SelfAttention",
     "",
     t5_attention,
     {t5_encoder_feed_forward, t5_encoder_norms},
     final_layer_norm},
    {"Hugging Face T5",
     "layer.0.SelfAttention",
     "layer.1.EncDecAttention",
     t5_attention,
     {t5_decoder_feed_forward, t5_decoder_norms},
     final_layer_norm},
    {"Hugging Face Moonshine", "self_attn", "", llama_attention, {mlp_fc, llama_norms}, layer_norm},
    {"Hugging Face Moonshine",
     "self_attn",
     "encoder_attn",
     llama_attention,
     {moonshine_decoder_feed_forward, moonshine_decoder_norms},
     norm},
    {"Hugging Face CLIP", "self_attn", "", bart_attention, {mlp_fc, clip_norms}, clip_stack},
    {"Hugging Face ViT", "attention", "", vit_attention, {bert_feed_forward, vit_norms}, vit_stack},
    {"Hugging Face BEiT", "attention", "", beit_attention, {bert_feed_forward, beit_norms}, vit_stack},
    {"Hugging Face VideoMAE", "attention", "", videomae_attention, {bert_feed_forward, vit_norms}, vit_stack},
    {"Hugging Face DINOv2", "attention", "", vit_attention, {dinov2_feed_forward, dino_norms}, vit_stack},
    {"Hugging Face DINOv3", "attention", "", dinov3_attention, {llama_feed_forward, dino_norms}, norm},
    {"Hugging Face ALBERT",
     "attention",
     "",
     albert_attention,
     {albert_feed_forward, albert_norms},
     {},
     false,
     "albert_layers"},
    {"Hugging Face DistilBERT", "attention", "", distilbert_attention, {distilbert_feed_forward, distilbert_norms}, {}},
    {"Hugging Face MPNet", "attention", "", mpnet_attention, {bert_feed_forward, mpnet_norms}, {}},
    {"Hugging Face DeBERTa", "attention", "", deberta_attention, {bert_feed_forward, bert_norms}, {}},
    {"Hugging Face ESM", "attention", "", bert_attention, {bert_feed_forward, esm_norms}, esm_stack},
    {"Hugging Face ModernBERT",
     "attn",
     "",
     modernbert_attention,
     {modernbert_feed_forward, modernbert_norms},
     final_norm},
    {"Hugging Face Nomic BERT", "attn", "", nomic_attention, {nomic_feed_forward, pytorch_norms}, {}},
    {"Hugging Face GTE", "attention", "", llama_attention, {gte_feed_forward, gte_norms}, {}},
    {"Hugging Face wav2vec 2.0",
     "attention",
     "",
     wav2vec2_attention,
     {wav2vec2_feed_forward, wav2vec2_norms},
     wav2vec2_stack},
    {"Hugging Face PatchTST", "self_attn", "", bart_attention, {patchtst_feed_forward, patchtst_norms}, {}},
    {"Hugging Face TimesFM", "self_attn", "", timesfm_attention, {timesfm_feed_forward, timesfm_norms}, {}},
};

}  // namespace

std::span<const Convention> conventions() { return all; }

}  // namespace ladon::weights
