// node stories-folder.mjs FILES OUT: converts the model stories260K (karpathy/tinyllamas) from the format of llama2.c to
// a folder as save_pretrained of transformers writes it. FILES has stories260K.bin and tok512.bin.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeSafetensors } from "./write-safetensors.mjs";

const [headerBytes, idOfFirstPiece] = [28, 259]; // behind <unk>, <s>, </s> and 256 bytes

/** Returns the tensors of a llama2.c file in their order, and the sizes of its header. */
function readModel(bytes) {
  const [dim, hidden, layers, heads, kvHeads, vocabulary, positions] = new Int32Array(bytes.buffer, bytes.byteOffset, 7);
  let at = bytes.byteOffset + headerBytes;
  const take = (...shape) => {
    const count = shape.reduce((a, b) => a * b);
    const values = new Float32Array(bytes.buffer, at, count);
    at += 4 * count;
    return { shape, values };
  };
  const kv = (dim / heads) * kvHeads;
  const tensors = {
    embedding: take(vocabulary, dim),
    norm1: take(layers, dim),
    query: take(layers, dim, dim),
    key: take(layers, kv, dim),
    value: take(layers, kv, dim),
    output: take(layers, dim, dim),
    norm2: take(layers, dim),
    gate: take(layers, hidden, dim),
    down: take(layers, dim, hidden),
    up: take(layers, hidden, dim),
    norm: take(dim),
  };
  return { sizes: { dim, hidden, layers, heads, kvHeads, vocabulary, positions }, tensors };
}

const layerOf = ({ shape: [layers, ...shape], values }, layer) => {
  const count = values.length / layers;
  return { shape, values: values.subarray(layer * count, (layer + 1) * count) };
};

/** Orders the rows of each head: llama2.c rotates neighbours, and transformers features that are half a head apart. */
function halved({ shape: [rows, columns], values }, width) {
  const moved = new Float32Array(values.length);
  for (let row = 0; row < rows; ++row) {
    const inHead = row % width;
    const from = row - inHead + (inHead < width / 2 ? 2 * inHead : 2 * (inHead - width / 2) + 1);
    moved.set(values.subarray(from * columns, (from + 1) * columns), row * columns);
  }
  return { shape: [rows, columns], values: moved };
}

function tensorsOf({ sizes: { dim, heads, layers }, tensors }) {
  const named = [["model.embed_tokens.weight", tensors.embedding], ["model.norm.weight", tensors.norm]];
  for (let layer = 0; layer < layers; ++layer) {
    const add = (name, tensor) => named.push([`model.layers.${layer}.${name}.weight`, tensor]);
    const of = (name) => layerOf(tensors[name], layer);
    add("input_layernorm", of("norm1"));
    add("self_attn.q_proj", halved(of("query"), dim / heads));
    add("self_attn.k_proj", halved(of("key"), dim / heads));
    add("self_attn.v_proj", of("value"));
    add("self_attn.o_proj", of("output"));
    add("post_attention_layernorm", of("norm2"));
    add("mlp.gate_proj", of("gate"));
    add("mlp.up_proj", of("up"));
    add("mlp.down_proj", of("down"));
  }
  return named;
}

const configOf = ({ dim, hidden, layers, heads, kvHeads, vocabulary, positions }) => ({
  model_type: "llama",
  architectures: ["LlamaForCausalLM"],
  hidden_size: dim,
  intermediate_size: hidden,
  num_hidden_layers: layers,
  num_attention_heads: heads,
  num_key_value_heads: kvHeads,
  vocab_size: vocabulary,
  max_position_embeddings: positions,
  hidden_act: "silu",
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  tie_word_embeddings: true,
  bos_token_id: 1,
  eos_token_id: [1, 2],
});

/** Returns the pieces of a tokenizer file of llama2.c with their scores. */
function readPieces(bytes, vocabulary) {
  let at = 4; // behind the length of the longest piece
  return Array.from({ length: vocabulary }, () => {
    const [score, length] = [bytes.readFloatLE(at), bytes.readInt32LE(at + 4)];
    at += 8 + length;
    return { score, piece: bytes.toString("utf8", at - length, at) };
  });
}

/** Returns tokenizer.json. llama2.c joins the neighbours whose piece has the largest score, which are merges of BPE. */
function tokenizerOf(pieces) {
  const special = ["<unk>", "<s>", "</s>"];
  const vocab = Object.fromEntries(pieces.map(({ piece }, id) => [special[id] ?? piece, id]));
  const byScore = pieces.slice(idOfFirstPiece).sort((a, b) => b.score - a.score);
  const merges = byScore.flatMap(({ piece }) => {
    const letters = Array.from(piece);
    const splits = letters.slice(1).map((_, i) => [letters.slice(0, i + 1).join(""), letters.slice(i + 1).join("")]);
    return splits.filter((parts) => parts.every((part) => Object.hasOwn(vocab, part)));
  });
  return {
    version: "1.0",
    added_tokens: special.map((content, id) => ({ id, content, special: true, normalized: false, single_word: false, lstrip: false, rstrip: false })),
    normalizer: { type: "Prepend", prepend: " " },
    pre_tokenizer: null,
    post_processor: {
      type: "TemplateProcessing",
      single: [{ SpecialToken: { id: "<s>", type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }],
      pair: [{ Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }],
      special_tokens: { "<s>": { id: "<s>", ids: [1], tokens: ["<s>"] } },
    },
    decoder: {
      type: "Sequence",
      decoders: [{ type: "ByteFallback" }, { type: "Fuse" }, { type: "Strip", content: " ", start: 1, stop: 0 }],
    },
    model: { type: "BPE", unk_token: "<unk>", fuse_unk: true, byte_fallback: true, ignore_merges: false, vocab, merges },
  };
}

export function writeStoriesFolder(files, out) {
  const model = readModel(readFileSync(join(files, "stories260K.bin")));
  const pieces = readPieces(readFileSync(join(files, "tok512.bin")), model.sizes.vocabulary);
  mkdirSync(out, { recursive: true });
  writeSafetensors(join(out, "model.safetensors"), tensorsOf(model));
  writeFileSync(join(out, "config.json"), JSON.stringify(configOf(model.sizes)));
  writeFileSync(join(out, "tokenizer.json"), JSON.stringify(tokenizerOf(pieces)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeStoriesFolder(...process.argv.slice(2));
