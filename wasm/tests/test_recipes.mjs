// Tests the JavaScript of docs/pytorch.md with the stored files of tests/recipes, or with those of LADON_RECIPE_FILES.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { load } from "../dist/index.js";

const files = process.env.LADON_RECIPE_FILES ?? new URL("../../tests/recipes/files", import.meta.url).pathname;
const page = readFileSync(new URL("../../docs/pytorch.md", import.meta.url), "utf8");
const [, code] = /<!-- pytorch\.mjs -->\n```js\n([^`]+)```/.exec(page);
const modules = new URL("kernels/modules/", import.meta.url);
const tokens = 6;

/** Returns a tensor of a safetensors file. */
const tensorOf = (bytes, name) => {
  const length = Number(bytes.readBigUInt64LE(0));
  const { dtype, data_offsets } = JSON.parse(bytes.subarray(8, 8 + length))[name];
  const [begin, end] = data_offsets.map((offset) => 8 + length + offset);
  const data = bytes.buffer.slice(bytes.byteOffset + begin, bytes.byteOffset + end);
  return dtype === "F32" ? new Float32Array(data) : new Uint8Array(data);
};
const differenceOf = (a, b) => a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);

test("PyTorch's encoder", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "ladon-"));
  const before = process.cwd();
  t.after(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });
  copyFileSync(join(files, "pytorch/model.safetensors"), join(folder, "model.safetensors"));
  copyFileSync(new URL("text_encoder.scalar.wasm", modules), join(folder, "text_encoder.scalar.wasm"));
  const binding = new URL("../dist/index.js", import.meta.url).href;
  writeFileSync(join(folder, "recipe.mjs"), code.replace('"ladon"', JSON.stringify(binding)));
  process.chdir(folder);
  const { encode } = await import(pathToFileURL(join(folder, "recipe.mjs")).href);

  const expected = readFileSync(join(files, "pytorch/expected.safetensors"));
  const [x, y, maySee] = ["x", "y", "may_see"].map((name) => tensorOf(expected, name));
  const found = encode(x, maySee, tokens);
  assert.equal(found.length, y.length);
  assert.ok(differenceOf(found, y) <= 2 ** -18, `${differenceOf(found, y)}`);
  const negated = maySee.map((sees) => 1 - sees);
  assert.ok(differenceOf(encode(x, negated, tokens), y) > 0.01);
});

/** The kernels of the section about BERT, Keras and ONNX in docs/pytorch.md. Each has a file of weights and a mask. */
const others = {
  bert_encoder: { recipe: "bert", file: "bert/bert/model.safetensors", mask: "padding" },
  keras_attention: { recipe: "keras", file: "keras/attention.safetensors", mask: "causal" },
  onnx_layer: { recipe: "onnx", file: "onnx/layer.safetensors", mask: "none" },
};
for (const [name, { recipe, file, mask }] of Object.entries(others)) {
  test(name, async () => {
    const kernel = await load(fileURLToPath(new URL(name, modules)), { variant: "scalar" });
    const instance = kernel.create({ mask });
    await instance.weights.load(join(files, file));
    const expected = readFileSync(join(files, recipe, "expected.safetensors"));
    const [x, y, padding] = ["x", "y", "may_see"].map((tensor) => tensorOf(expected, tensor));
    const found = instance.run(x, mask === "padding" ? { tokens, padding } : { tokens });
    assert.ok(differenceOf(found, y) <= 2 ** -18, `${differenceOf(found, y)}`);
  });
}
