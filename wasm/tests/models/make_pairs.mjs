// node make_pairs.mjs FOLDER: writes a small classifier of pairs of texts with random weights, and its tokenizer. The id i
// with the type 1 has the same row as the id 20 + i with the type 0.
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomOf } from "../kernels.mjs";
import { safetensors } from "../safetensors.mjs";

const [folder] = process.argv.slice(2);
const random = randomOf(7);
const [width, hidden, tokens, ids] = [16, 24, 12, 20];
const tensors = [];
const numbers = (count) => Float32Array.from({ length: count }, () => random());
const add = (name, ...shape) => tensors.push([name, shape, numbers(shape.reduce((a, b) => a * b))]);
const linear = (name, outputs, inputs) => (add(`${name}.weight`, outputs, inputs), add(`${name}.bias`, outputs));

const types = numbers(2 * width);
const words = numbers(2 * ids * width);
for (let i = 0; i < ids * width; ++i) words[ids * width + i] = words[i] + types[width + (i % width)] - types[i % width];
tensors.push(["words.weight", [2 * ids, width], words], ["types", [2, width], types]);
linear("layers.0.self_attn.out_proj", width, width);
add("layers.0.self_attn.in_proj_weight", 3 * width, width);
add("layers.0.self_attn.in_proj_bias", 3 * width);
linear("layers.0.linear1", hidden, width);
linear("layers.0.linear2", width, hidden);
for (const norm of ["norm1", "norm2"]) add(`layers.0.${norm}.weight`, width), add(`layers.0.${norm}.bias`, width);
linear("classifier", 1, width);

const stack = {
  name: "encoder",
  prefix: "layers",
  model: { layers: 1, tokens, model: width, heads: 2, feed_forward: hidden },
  input: {
    name: "input_ids",
    steps: [
      { step: "lookup", table: "words.weight", rows: 2 * ids, features: width },
      { step: "add_row", table: "types", rows: 2, ids: "token_type_ids" },
    ],
  },
  pooler: [{ step: "pool", pooling: "mean" }],
  head: [{ step: "linear_rows", name: "classifier", outputs: 1 }],
};

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "model.safetensors"), safetensors(tensors));
writeFileSync(join(folder, "config.json"), JSON.stringify({ model_type: "ladon", stacks: [stack], id2label: { 0: "relevance" } }));
copyFileSync(new URL("../../../tests/data/tokenizers/word_piece.json", import.meta.url), join(folder, "tokenizer.json"));
