// Loads the weights of KWT-1 into the shipped kernels "keywords", and compares the logits with those of LiteRT. The
// features come from a file, so the test does not need the front end.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { LadonError } from "../dist/index.js";
import { loadKernel } from "../dist/keywords.js";
import { exactKernel, runnable } from "./int8_kernels.mjs";
import { answers, skipWithoutModel, weights } from "./keywords_files.mjs";
import { runs, shipped, variants } from "./kernels.mjs";

const [tokens, width, features] = [99, 64, 40];
const skip = skipWithoutModel;

let cases;
let labels;
before(() => {
  if (!skip) ({ cases, labels } = JSON.parse(readFileSync(answers, "utf8")));
});

const instanceOf = async (kernel) => {
  const instance = kernel.create();
  await instance.weights.load(pathToFileURL(weights));
  return instance;
};

/** Returns y = weight x + bias. */
const linear = (instance, name, x) => {
  const [weight, bias] = ["weight", "bias"].map((part) => instance.weights.tensor(`${name}.${part}`, "float32"));
  return Array.from(bias, (sum, o) => x.reduce((y, value, i) => y + weight[o * x.length + i] * value, sum));
};

/**
 * Returns the tokens of a recording: the class token, and then a token for each frame. The position embeddings are
 * added.
 */
const tokensOf = (instance, recording) => {
  const positions = instance.weights.tensor("position", "float32").slice();
  const first = instance.weights.tensor("class_token", "float32").slice();
  const rows = [first, ...recording.features.map((frame) => linear(instance, "embed", frame))];
  assert.equal(recording.features[0].length, features);
  return Float32Array.from(rows.flatMap((row) => [...row])).map((value, i) => value + positions[i]);
};

/**
 * Checks one kernel on all recordings against LiteRT's answers. A logit may differ by at most `most`. The labels are
 * compared only if the two largest expected logits differ by more than `margin`.
 */
const check = async (kernel, { most, margin }) => {
  const instance = await instanceOf(kernel);
  let worst = 0;
  for (const recording of cases) {
    const x = tokensOf(instance, recording);
    const row = instance.run(x, { queries: 1, attention: true }).slice();
    assert.equal(row.length, width);
    for (let layer = 0; layer < 12; ++layer) {
      const map = instance.attention(layer).subarray(0, tokens);
      const sum = map.reduce((a, b) => a + b, 0);
      assert.ok(Math.abs(sum - 1) < 1e-5, `${recording.file}, layer ${layer}: the weights' sum is ${sum}`);
    }
    const logits = linear(instance, "head", row);
    logits.forEach((logit, i) => (worst = Math.max(worst, Math.abs(logit - recording.logits[i]))));
    const [first, second] = [...recording.logits].sort((a, b) => b - a);
    if (first - second > margin) {
      const label = labels[logits.indexOf(Math.max(...logits))];
      assert.equal(label, labels[recording.logits.indexOf(first)], recording.file);
    }
  }
  instance.free();
  assert.ok(worst <= most, `a logit differs by ${worst}`);
  return worst;
};

test("float32: LiteRT's logits", { skip }, async (t) => {
  for (const variant of variants.filter((variant) => runs("keywords", variant))) {
    const worst = await check(await loadKernel({ variant }), { most: 1e-5, margin: 0 });
    t.diagnostic(`${variant}: largest difference of a logit: ${worst}`);
  }
});

test("int8: near LiteRT's logits", { skip }, async (t) => {
  for (const variant of runnable) {
    for (const activationBits of [8, 7]) {
      const kernel = await exactKernel(shipped("keywords_int8"), { variant, activationBits });
      if (!kernel) {
        t.diagnostic(`this engine does not compute ${activationBits} bits exactly in ${variant}`);
        continue;
      }
      const worst = await check(kernel, { most: 0.3, margin: 0.6 });
      t.diagnostic(`${variant}, ${activationBits} bits: largest difference of a logit: ${worst}`);
    }
  }
});

test("the class token alone is row 0 of all tokens", { skip }, async (t) => {
  const instance = await instanceOf(await loadKernel());
  const x = tokensOf(instance, cases[0]);
  const all = instance.run(x).slice();
  assert.equal(all.length, tokens * width);
  const one = instance.run(x, { queries: 1 });
  const worst = one.reduce((most, value, i) => Math.max(most, Math.abs(value - all[i])), 0);
  t.diagnostic(`largest difference: ${worst}`);
  assert.ok(worst < 1e-5);
  instance.free();
});

test("a checkpoint with biases of the projections has tensors that the kernel lacks", async () => {
  const instance = (await loadKernel()).create();
  const tensors = Object.fromEntries(
    instance.description.layer.flatMap(({ name, shape }) =>
      Array.from({ length: 12 }, (_, i) => [`layers.${i}.${name}`, new Float32Array(shape.reduce((a, b) => a * b))]),
    ),
  );
  instance.weights.set(tensors);
  const more = { ...tensors, "layers.3.self_attn.in_proj_bias": new Float32Array(3 * width) };
  assert.throws(
    () => instance.weights.set(more),
    (error) => error instanceof LadonError && error.code === "weights" && /layers\.3\.self_attn\.in_proj_bias/.test(error),
  );
  instance.free();
});
