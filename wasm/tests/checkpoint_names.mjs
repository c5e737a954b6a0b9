// Each function returns the name that a checkpoint gives to a tensor of a layer or of a stack. The argument is the name
// in the kernel's description, such as "layers.0.attention.query_proj_weight". The functions do not use the package's
// tables of names, so that they can test these tables.

/** Returns the name in checkpoints of Hugging Face's BERT. */
export const bert = (name) =>
  name
    .replace("layers.", "encoder.layer.")
    .replace(/attention\.(query|key|value)_proj_/, "attention.self.$1.")
    .replace("attention.out_proj_", "attention.output.dense.")
    .replace("linear1_", "intermediate.dense.")
    .replace("linear2_", "output.dense.")
    .replace("norm1_", "attention.output.LayerNorm.")
    .replace("norm2_", "output.LayerNorm.");

/**
 * Returns the name in checkpoints of Hugging Face's Llama. The name of a layer's tensor begins with "layers.", like the
 * name in the kernel's description.
 */
export const llama = (name) =>
  name
    .replace(/attention\.([qkv])\w+_proj_/, "self_attn.$1_proj.")
    .replace("attention.out_proj_", "self_attn.o_proj.")
    .replace("linear1_", "mlp.up_proj.")
    .replace("linear2_", "mlp.down_proj.")
    .replace("norm1_", "input_layernorm.")
    .replace("norm2_", "post_attention_layernorm.");
