// Tests kernels with rotated int8 weights (ROTATED). The binding rotates and quantises float weights, and loads int8
// files of `ladon-weights quantise --rotate`. A kernel with rotated weights must reject int8 weights without rotation,
// and a kernel without rotation must reject rotated int8 weights.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../dist/index.js";
import { exactKernel, runnableOf, skipWithoutKernels, testKernel } from "./int8_kernels.mjs";
import { expected, randomOf, randoms } from "./kernels.mjs";
import { refuses } from "./refuses.mjs";
import { safetensors, streamOf } from "./safetensors.mjs";

const random = randomOf(51);
const tokens = 9;
const model = 16;

/** Multiplies each block of eight numbers by the Hadamard matrix, as include/ladon/detail/panel/rows.hpp defines. */
const rotate = (row) => {
  const rotated = Float32Array.from(row);
  for (let begin = 0; begin < rotated.length; begin += 8) {
    for (let half = 1; half < 8; half *= 2) {
      for (let i = 0; i < 4; ++i) {
        const first = begin + Math.floor(i / half) * 2 * half + (i % half);
        const [a, b] = [rotated[first], rotated[first + half]];
        rotated[first] = a + b;
        rotated[first + half] = a - b;
      }
    }
  }
  return rotated;
};

/**
 * Rotates and quantises a row as include/ladon/quantise.hpp defines. The integers and the scale are negated, because a
 * negative scale marks a rotated row. The scale contains the factor 1/8 of the rotation.
 */
const quantiseRow = (row) => {
  const rotated = rotate(row);
  const scale = Math.fround(Math.max(...rotated.map(Math.abs)) / 127);
  const integers = Array.from(rotated, (weight) => {
    const quotient = Math.fround(weight / scale);
    const below = Math.floor(quotient);
    return -(quotient - below === 0.5 ? below + (below & 1) : Math.round(quotient));
  });
  return { integers, scale: -scale / 8 };
};

const tensorsOf = ({ weights, layer = [] }) => [...layer, ...weights];
const isMatrix = ({ name, shape }) => shape.length === 2 && name.endsWith("_weight");
const floatsOf = (description) =>
  Object.fromEntries(
    tensorsOf(description)
      .filter(({ name, type }) => type !== "int32" && !name.endsWith("_weight_scale"))
      .map(({ name, shape }) => {
        const count = shape.reduce((a, b) => a * b, 1);
        return [name, randoms(random, count, 0.5, /norm.?_weight/.test(name) ? 1 : 0)];
      }),
  );
/** Replaces the float matrices by rotated integers and their scales. */
const rotatedOf = (description, floats) => {
  const result = { ...floats };
  for (const { name, shape } of tensorsOf(description).filter(isMatrix)) {
    const [rows, columns] = shape;
    const all = Array.from({ length: rows }, (_, r) => quantiseRow(floats[name].subarray(r * columns, (r + 1) * columns)));
    result[name] = Int8Array.from(all.flatMap(({ integers }) => integers));
    result[`${name}_scale`] = Float32Array.from(all, ({ scale }) => scale);
  }
  return result;
};

const kernel = skipWithoutKernels ? undefined : await load(testKernel("int8_rotated"), { variant: "scalar" });
const { description } = kernel ?? {};
const floats = kernel && floatsOf(description);
const integers = kernel && rotatedOf(description, floats);
const x = randoms(random, tokens * model);
const made = (given, from = kernel) => {
  const instance = from.create();
  instance.weights.set(given);
  return instance;
};
const yOf = (instance) => instance.run(x).slice();
const testHere = (name, act) => test(name, { skip: skipWithoutKernels }, act);
const fileOf = (given) =>
  safetensors(
    Object.entries(given).map(([name, data]) => {
      const matrix = tensorsOf(description).find((one) => one.name === name.replace(/_scale$/, ""));
      const shape = name.endsWith("_weight_scale") ? [matrix.shape[0], 1] : matrix.shape;
      return [name, shape, data, data instanceof Int8Array ? "I8" : "F32"];
    }),
  );

testHere("the description tells that the weights are rotated", async () => {
  assert.equal(description.rotated, true);
  assert.equal(description.precision, "int8");
  assert.equal((await load(testKernel("int8_layer"), { variant: "scalar" })).description.rotated ?? false, false);
});

testHere("floats become rotated integers with negative scales", () => {
  const { weights } = made(floats);
  for (const [name, data] of Object.entries(integers)) assert.deepEqual(weights.tensor(name), data, name);
});

testHere("floats, rotated integers, and files of both give the same bits", async () => {
  const wanted = yOf(made(floats));
  assert.deepEqual(yOf(made(integers)), wanted);
  for (const given of [floats, integers]) {
    for (const piece of [7, 4096]) {
      const instance = kernel.create();
      await instance.weights.load(streamOf(fileOf(given), piece));
      assert.deepEqual(yOf(instance), wanted);
    }
  }
});

testHere("the output is near the output of float weights, in every variant of the kernel", async () => {
  const float32 = { ...description, precision: "float32", activationBits: undefined };
  const wanted = expected(float32, floats, x, tokens, tokens, () => true).y.flat();
  const rms = Math.sqrt(wanted.reduce((sum, value) => sum + value * value, 0) / wanted.length);
  for (const variant of runnableOf("int8_rotated")) {
    const other = await exactKernel(testKernel("int8_rotated"), { variant, activationBits: 7 });
    if (!other) continue;
    const y = yOf(made(floats, other));
    const squares = wanted.reduce((sum, value, i) => sum + (y[i] - value) ** 2, 0);
    const error = Math.sqrt(squares / wanted.length) / rms;
    assert.ok(error > 1e-4 && error < 0.03, `${variant}: ${error}`);
  }
});

testHere("weights of the other kind of kernel", async () => {
  const name = tensorsOf(description).find(isMatrix).name;
  const positive = { ...integers, [`${name}_scale`]: integers[`${name}_scale`].map((scale) => -scale) };
  const texts = ["weights", `${name}_scale of row 0`, "a negative number, as of rotated weights"];
  await refuses(() => kernel.create().weights.set(positive), ...texts);
  await refuses(() => kernel.create().weights.load(fileOf(positive)), ...texts);
  const plain = await load(testKernel("int8_plain"), { variant: "scalar" });
  await refuses(() => plain.create().weights.set(integers), "weights", `${name}_scale of row 0`, "a positive number");
  await refuses(() => plain.create().weights.load(fileOf(integers)), "weights", "a positive number");
  const infinite = floats[name].map((weight, i) => (i === 5 ? Infinity : weight));
  await refuses(() => kernel.create().weights.set({ ...floats, [name]: infinite }), "weights", name, "finite weights");
});
