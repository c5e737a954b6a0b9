// node make_classifier.mjs FOLDER [rows]: writes a small classifier of sensor data with random weights: two pre-norm
// layers, the mean of all rows, and a linear map to five classes, of which several may be right. With `rows`, the linear
// map gives each row a class.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomOf } from "../kernels.mjs";
import { safetensors } from "../safetensors.mjs";

const [folder, ofRows] = process.argv.slice(2);
const random = randomOf(7);
const [width, hidden, frames, channels, classes] = [16, 24, 20, 3, 5];
const tensors = [];
const add = (name, ...shape) => {
  const count = shape.reduce((a, b) => a * b);
  tensors.push([name, shape, Float32Array.from({ length: count }, () => (1.5 * random()) / Math.sqrt(shape.at(-1)))]);
};
const linear = (name, outputs, inputs) => (add(`${name}.weight`, outputs, inputs), add(`${name}.bias`, outputs));

linear("input", width, channels);
add("positions", frames, width);
for (const layer of [0, 1]) {
  const prefix = `encoder.layers.${layer}.`;
  add(`${prefix}self_attn.in_proj_weight`, 3 * width, width);
  add(`${prefix}self_attn.in_proj_bias`, 3 * width);
  linear(`${prefix}self_attn.out_proj`, width, width);
  linear(`${prefix}linear1`, hidden, width);
  linear(`${prefix}linear2`, width, hidden);
  for (const norm of ["norm1", "norm2"]) add(`${prefix}${norm}.weight`, width), add(`${prefix}${norm}.bias`, width);
}
linear("classifier", classes, width);

const model = { layers: 2, tokens: frames, model: width, heads: 4, feed_forward: hidden, activation: "gelu", norm: "pre" };
const steps = [
  { step: "frames", frames, channels },
  { step: "linear_rows", name: "input", outputs: width },
  { step: "add_positions", table: "positions", rows: frames },
];
const stack = {
  name: "encoder",
  prefix: "encoder.layers",
  epsilon: 1e-5,
  model,
  input: { name: "samples", steps },
  ...(ofRows ? { head_of_rows: true } : { pooler: [{ step: "pool", pooling: "mean" }] }),
  head: [{ step: "linear_rows", name: "classifier", outputs: classes }],
};

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "model.safetensors"), safetensors(tensors));
const config = { model_type: "ladon", stacks: [stack], problem_type: "multi_label_classification" };
writeFileSync(join(folder, "config.json"), JSON.stringify(config));
