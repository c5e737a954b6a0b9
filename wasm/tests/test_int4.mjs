// Tests kernels with int4 weights (PRECISION int4). An int4 weight is a number of a table, which is an int8 weight, so an
// int8 kernel with these numbers must give equal bits. tests/wasm/modules compares int4 modules with the C library.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { load } from "../dist/index.js";
import { bert } from "./checkpoint_names.mjs";
import { exactKernel, runnableOf, skipWithoutKernels, testKernel } from "./int8_kernels.mjs";
import { randomOf, randoms } from "./kernels.mjs";
import { refuses } from "./refuses.mjs";
import { headerOf, safetensors, streamOf } from "./safetensors.mjs";

const random = randomOf(61);
const [tokens, model] = [9, 40];

/** The tables of include/ladon/detail/vec/int4.hpp: table 2 n has the levels times 0.85^n, and table 2 n + 1 their negatives. */
const levels = [-127, -100, -79, -63, -48, -35, -22, -9, 2, 14, 26, 37, 51, 66, 83, 107];
const factors = [1024, 870, 740, 629, 535, 454, 386, 328];
const weightOf = (table, code) => {
  const product = levels[code] * factors[table >> 1];
  return Math.trunc((product + 512 * Math.sign(product)) / 1024) * (table % 2 ? -1 : 1);
};

/** Returns the int8 weights of a row of int4 weights. */
const expand = (row, columns) => {
  const groups = Math.ceil(columns / 32);
  return Array.from({ length: columns }, (_, i) => {
    const [group, place] = [i >> 5, i & 31];
    const code = (row[16 * group + (place & 15)] >> (place < 16 ? 0 : 4)) & 15;
    return weightOf((row[16 * groups + (group >> 1)] >> (4 * (group & 1))) & 15, code);
  });
};

const testHere = (name, act, skip = skipWithoutKernels) => test(name, { skip }, act);
const kernel = skipWithoutKernels ? undefined : await load(testKernel("int4_layer"), { variant: "scalar" });
const tensors = [...(kernel?.description.layer ?? []), ...(kernel?.description.weights ?? [])];
const matrices = tensors.filter(({ type }) => type === "int4");
const floats = Object.fromEntries(
  tensors
    .filter(({ name, type }) => type !== "int32" && !name.endsWith("_weight_scale"))
    .map(({ name, shape: [rows, columns = 1], inputs = columns }) => {
      return [name, randoms(random, rows * inputs, 0.5, /norm.?_weight/.test(name) ? 1 : 0)];
    }),
);
const x = randoms(random, tokens * model);
const made = (given, from = kernel) => {
  const instance = from.create();
  instance.weights.set(given);
  return instance;
};
const yOf = (instance) => instance.run(x).slice();
/** Replaces the float matrices by the int4 weights and the scales that the kernel makes of them. */
const int4Of = () => {
  const { weights } = made(floats);
  const copies = matrices.flatMap(({ name }) => [name, `${name}_scale`]).map((name) => [name, weights.tensor(name).slice()]);
  return { ...floats, ...Object.fromEntries(copies) };
};
const fileOf = (given, shapes = {}) =>
  safetensors(
    Object.entries(given).map(([name, data]) => {
      const { shape, inputs } = tensors.find((one) => one.name === name);
      const isBytes = data instanceof Uint8Array;
      const usual = name.endsWith("_weight_scale") ? [shape[0], 1] : isBytes || !inputs ? shape : [shape[0], inputs];
      return [name, shapes[name] ?? usual, data, isBytes ? "U8" : data instanceof Int8Array ? "I8" : "F32"];
    }),
  );

testHere("the description tells the bytes and the weights of a row", () => {
  assert.equal(kernel.description.precision, "int4");
  assert.equal(kernel.description.activationBits, 8);
  const linear2 = matrices.find(({ name }) => name === "linear2_weight");
  assert.deepEqual(linear2, { name: "linear2_weight", type: "int4", shape: [40, 3 * 16 + 2], inputs: 72 });
});

testHere("floats become int4 weights near them, and an int8 kernel with these numbers gives equal bits", async () => {
  const { weights } = made(floats);
  const integers = { ...floats };
  for (const { name, shape: [rows, bytes], inputs } of matrices) {
    const [packed, scales, sums] = [name, `${name}_scale`, `${name}_row_sum`].map((one) => weights.tensor(one));
    assert.ok(packed instanceof Uint8Array && scales instanceof Float32Array && sums instanceof Int32Array);
    const expanded = Array.from({ length: rows }, (_, r) => expand(packed.subarray(r * bytes, (r + 1) * bytes), inputs));
    assert.deepEqual(Array.from(sums), expanded.map((row) => row.reduce((a, b) => a + b, 0)));
    let [error, size] = [0, 0];
    expanded.flat().forEach((integer, i) => {
      error += (integer * scales[Math.floor(i / inputs)] - floats[name][i]) ** 2;
      size += floats[name][i] ** 2;
    });
    assert.ok(error < 0.015 * size, `${name}: ${Math.sqrt(error / size)}`); // uniform weights, which the levels fit less
    integers[name] = Int8Array.from(expanded.flat());
    integers[`${name}_scale`] = scales.slice();
  }
  const int8 = await load(testKernel("int8_of_int4"), { variant: "scalar" });
  assert.deepEqual(yOf(made(floats)), yOf(made(integers, int8)));
});

testHere("arrays and files of floats and of int4 weights give equal bits, also in packed tensors", async () => {
  const [wanted, int4] = [yOf(made(floats)), int4Of()];
  assert.deepEqual(yOf(made(int4)), wanted);
  const joined = (given, ...names) => {
    const all = names.map((name) => given[name]);
    return Buffer.concat(all.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)));
  };
  const projections = ["query_proj_", "key_proj_", "value_proj_"].map((one) => `attention.${one}`);
  const packed = [];
  for (const [name, data] of Object.entries(int4)) {
    const role = projections.map((one) => name.startsWith(one) && name.slice(one.length)).find(Boolean);
    const { shape: [rows, ...columns] } = tensors.find((one) => one.name === name);
    const of = { weight: "U8" }[role] ?? "F32";
    if (!role) packed.push([name, name.endsWith("_scale") ? [rows, 1] : [rows, ...columns], data, data instanceof Uint8Array ? "U8" : "F32"]);
    else if (name.startsWith(projections[0])) {
      const shape = [3 * rows, ...(role === "weight_scale" ? [1] : columns)];
      packed.push([`self_attn.in_proj_${role}`, shape, joined(int4, ...projections.map((one) => one + role)), of]);
    }
  }
  for (const file of [fileOf(floats), fileOf(int4), safetensors(packed)]) {
    for (const piece of [7, 4096]) {
      const instance = kernel.create();
      await instance.weights.load(streamOf(file, piece));
      assert.deepEqual(yOf(instance), wanted);
    }
  }
});

testHere("every variant that the engine runs exactly is near the scalar variant", async () => {
  const seven = await load(testKernel("int4_layer"), { variant: "scalar", activationBits: 7 });
  const wanted = yOf(made(floats, seven));
  for (const variant of runnableOf("int4_layer")) {
    const other = await exactKernel(testKernel("int4_layer"), { variant, precision: "int4", activationBits: 7 });
    if (!other) continue;
    const y = yOf(made(floats, other));
    assert.ok(y.every((value, i) => Math.abs(value - wanted[i]) < 0.1), variant);
  }
});

testHere("a row of zeros has the scale 0", async () => {
  const name = matrices[0].name;
  const zeros = { ...floats, [name]: floats[name].map((value, i) => (i < matrices[0].inputs ? 0 : value)) };
  const instance = made(zeros);
  assert.equal(instance.weights.tensor(`${name}_scale`)[0], 0);
  const wanted = yOf(instance);
  const int4 = { ...zeros };
  for (const one of matrices.flatMap((each) => [each.name, `${each.name}_scale`])) int4[one] = instance.weights.tensor(one).slice();
  assert.deepEqual(yOf(made(int4)), wanted);
});

testHere("wrong shapes, types, scales and mixtures are refused, and the weights stay", async () => {
  const int4 = int4Of();
  const instance = made(int4);
  const wanted = yOf(instance);
  const { name, shape: [rows, bytes], inputs } = matrices[0];
  const scale = `${name}_scale`;
  const loads = (given, shapes) => () => instance.weights.load(fileOf(given, shapes));
  const sets = (given) => () => instance.weights.set(given);
  await refuses(loads({ ...int4, [name]: int4[name].slice(rows) }, { [name]: [rows, bytes - 1] }), "shape", name, `${rows},${bytes}`);
  await refuses(loads({ ...int4, [name]: new Uint8Array(rows * inputs) }, { [name]: [rows, inputs] }), "shape", name);
  await refuses(loads({ ...floats, [name]: new Float32Array(rows * bytes) }, { [name]: [rows, bytes] }), "shape", `${rows},${inputs}`);
  await refuses(loads({ ...int4, [scale]: new Float32Array(rows + 1) }, { [scale]: [rows + 1, 1] }), "shape", scale);
  await refuses(sets({ ...int4, [name]: int4[name].slice(1) }), "shape", `${rows * bytes}`);
  await refuses(sets({ ...floats, [name]: floats[name].slice(1) }), "shape", `${rows * inputs}`);
  await refuses(sets({ ...int4, [name]: new Int8Array(rows * inputs) }), "weights", `type of ${name}`, "int4", "got int8");
  await refuses(sets({ ...int4, [scale]: undefined }), "weights", scale);
  const { [scale]: _, ...without } = int4;
  await refuses(loads(without), "weights", scale);
  await refuses(loads({ ...without, [name]: floats[name] }), "weights", `type of ${name}`, "int4, as of");
  for (const wrong of [NaN, -1, Infinity]) {
    await refuses(loads({ ...int4, [scale]: int4[scale].map((one, i) => (i === 3 ? wrong : one)) }), "weights", `${scale} of row 3`);
  }
  await refuses(sets({ ...floats, [name]: floats[name].map((one, i) => (i === 5 ? NaN : one)) }), "weights", "finite weights");
  const int8 = await load(testKernel("int8_of_int4"), { variant: "scalar" });
  await refuses(() => int8.create().weights.set(int4), "shape", name);
  const float32 = await load(testKernel("odd_layer"), { variant: "scalar" });
  const [first] = float32.description.layer;
  await refuses(() => float32.create().weights.set({ [first.name]: new Uint8Array(5) }), "weights");
  await refuses(() => load(testKernel("int4_layer"), { precision: "int8", variant: "scalar" }), "unsupported", "got int4");
  assert.deepEqual(yOf(instance), wanted);
});

const tool = process.env.LADON_WEIGHTS_TOOL;
const skipTool = skipWithoutKernels || (tool ? false : "LADON_WEIGHTS_TOOL does not name ladon-weights");
testHere("the file of ladon-weights quantise --bits 4 has the weights that the kernel makes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ladon-int4-"));
  try {
    const named = Object.entries(floats).map(([name, data]) => {
      const { shape, inputs } = tensors.find((one) => one.name === name);
      return [bert(name), inputs ? [shape[0], inputs] : shape, data];
    });
    const [from, to] = ["float.safetensors", "int4.safetensors"].map((file) => join(folder, file));
    writeFileSync(from, safetensors(named));
    execFileSync(tool, ["quantise", from, to, "--bits", "4"], { stdio: "pipe" });
    const { header } = headerOf(new Uint8Array(readFileSync(to)));
    assert.equal(Object.values(header).filter(({ dtype }) => dtype === "U8").length, matrices.length);
    const instance = kernel.create();
    await instance.weights.load(to);
    assert.deepEqual(yOf(instance), yOf(made(floats)));
  } finally {
    rmSync(folder, { recursive: true });
  }
}, skipTool);
