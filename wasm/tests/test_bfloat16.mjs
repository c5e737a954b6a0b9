// Tests kernels with bfloat16 weights. A WebAssembly module converts them to float32, so results agree with an oracle
// that has the values of the weights.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../dist/index.js";
import { runnableOf, skipWithoutKernels as skip, testKernel } from "./int8_kernels.mjs";
import { expected, moduleBytes, randomOf, randoms, weightsOf } from "./kernels.mjs";
import { valuesOf } from "./narrow_floats.mjs";
import { bound } from "./oracle.mjs";
import { refuses } from "./refuses.mjs";
import { safetensors, streamOf } from "./safetensors.mjs";

const random = randomOf(23);
const bits = (float) => new Uint32Array(Float32Array.of(float).buffer)[0];
/** Returns the bits of the bfloat16 nearest to a float: the one with the smaller distance, and of two the even one. */
const roundedOf = (float) => {
  const low = bits(float) >>> 16;
  const [below, above] = valuesOf([low, low + 1], "BF16");
  const difference = Math.abs(above - float) - Math.abs(float - below);
  return difference < 0 || (difference === 0 && low % 2) ? low + 1 : low;
};
const isHalf = (description) => {
  const names = new Set(description.layer.filter(({ type }) => type === "bfloat16").map(({ name }) => name));
  return (name) => names.has(name);
};
const differ = (a, b) => a.some((value, i) => value !== b[i]);

for (const variant of runnableOf("bfloat16_layer")) {
  test(`bfloat16_layer.${variant} agrees with the oracle`, { skip }, async () => {
    const kernel = await load(testKernel("bfloat16_layer"), { variant, precision: "bfloat16" });
    const { description } = kernel;
    const { model, queries: most, feedForward } = description;
    assert.equal(description.precision, "bfloat16");
    const instance = kernel.create();
    const floats = weightsOf(description, random);
    const half = isHalf(description);
    const given = Object.fromEntries(
      Object.entries(floats).map(([name, values]) => [name, half(name) ? Uint16Array.from(values, roundedOf) : values]),
    );
    const values = Object.fromEntries(
      Object.entries(given).map(([name, one]) => [name, half(name) ? valuesOf(one, "BF16") : one]),
    );
    instance.weights.set(given);
    instance.run(new Float32Array(most * model).fill(NaN), { attention: true });
    for (const n of [1, 2, 5, 16, 19]) {
      const x = randoms(random, n * model);
      const padding = Uint8Array.from({ length: n }, (_, j) => +(j % 3 !== 1));
      const wanted = expected(description, values, x, n, n, (_, j) => padding[j] > 0).y.flat();
      const y = instance.run(x, { tokens: n, padding }).slice();
      const size = wanted.reduce((max, one) => Math.max(max, Math.abs(one)), 1);
      const allowed = bound({ longest: Math.max(feedForward, most), depth: 12, size });
      const off = wanted.reduce((max, one, i) => Math.max(max, Math.abs(one - y[i])), 0);
      assert.ok(off <= allowed, `${off}, allowed ${allowed}`);
      assert.deepEqual(instance.run(x, { tokens: n, padding }), y, "a second run gives other bits");
      instance.weights.set(floats); // are rounded
      assert.deepEqual(instance.run(x, { tokens: n, padding }), y);
      instance.weights.set(given);
    }
  });
}

/** Returns a file with the weights. `typed` returns [data, dtype] for a tensor. */
const fileOf = (description, floats, typed) =>
  safetensors(
    description.layer.map(({ name, shape }) => {
      const [data, dtype] = typed(name, floats[name]);
      return [name, shape, data, dtype];
    }),
  );

test("files with BF16, F32 and F16 weights", { skip }, async () => {
  const kernel = await load(testKernel("bfloat16_plain"), { variant: "scalar" });
  const { description } = kernel;
  const floats = weightsOf(description, random);
  const half = isHalf(description);
  const halves = (values) => Uint16Array.from(values, roundedOf);
  const x = randoms(random, 3 * description.model);
  const resultOf = async (file) => {
    const instance = kernel.create();
    await instance.weights.load(streamOf(file, 1000));
    const y = instance.run(x, { tokens: 3 }).slice();
    for (const [name, values] of Object.entries(floats)) {
      const tensor = instance.weights.tensor(name);
      if (half(name)) assert.deepEqual(tensor, halves(values), name);
      else assert.ok(tensor instanceof Float32Array, name);
    }
    assert.deepEqual(instance.weights.tensor("linear1_weight", "bfloat16"), halves(floats.linear1_weight));
    await refuses(() => instance.weights.tensor("linear1_weight", "float32"), "weights", "expected float32, got bfloat16");
    return y;
  };
  const wide = await resultOf(fileOf(description, floats, (_, values) => [values, "F32"]));
  const narrow = await resultOf(fileOf(description, floats, (name, values) => (half(name) ? [halves(values), "BF16"] : [values, "F32"])));
  assert.deepEqual(wide, narrow);
  // Biases and norms are float32 in the kernel, and may be BF16 in the file.
  const all = fileOf(description, floats, (_, values) => [halves(values), "BF16"]);
  assert.ok(differ(await resultOf(all), narrow));

  // F16 numbers with 8 significant bits are bfloat16 numbers, too.
  const sixteenths = Object.fromEntries(
    description.layer.map(({ name }) => [name, floats[name].map((value) => Math.round(value * 16) / 16)]),
  );
  const f16 = (value) => {
    if (!value) return 0;
    const exponent = Math.floor(Math.log2(Math.abs(value)));
    return (value < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | ((Math.abs(value) / 2 ** exponent - 1) * 1024);
  };
  const instances = [kernel.create(), kernel.create()];
  await instances[0].weights.load(fileOf(description, sixteenths, (_, values) => [Uint16Array.from(values, f16), "F16"]));
  instances[1].weights.set(sixteenths);
  assert.deepEqual(instances[0].run(x, { tokens: 3 }), instances[1].run(x, { tokens: 3 }));
});

test("rounding to bfloat16", { skip }, async () => {
  const kernel = await load(testKernel("bfloat16_plain"), { variant: "scalar" });
  const instance = kernel.create();
  const weights = weightsOf(kernel.description, random);
  const of = (word) => new Float32Array(Uint32Array.of(word).buffer)[0];
  const cases = [
    [of(0x3f800000), 0x3f80], [of(0x3f808000), 0x3f80], [of(0x3f818000), 0x3f82], [of(0x3f808001), 0x3f81],
    [of(0xbf818000), 0xbf82], [of(0x7f7fffff), 0x7f80], [Infinity, 0x7f80], [-Infinity, 0xff80], [-0, 0x8000],
    [of(0x00008000), 0], [of(0x00018000), 2],
  ];
  weights.linear1_weight.set(cases.map(([float]) => float));
  weights.linear1_weight[cases.length] = NaN;
  instance.weights.set(weights);
  const found = instance.weights.tensor("linear1_weight", "bfloat16");
  cases.forEach(([float, expectedBits], i) => assert.equal(found[i], expectedBits, `${float}`));
  assert.ok(Number.isNaN(valuesOf(found.slice(cases.length, cases.length + 1), "BF16")[0]));
});

test("arrays and files that bfloat16 kernels, and others, refuse", { skip }, async () => {
  const kernel = await load(testKernel("bfloat16_plain"), { variant: "scalar" });
  const instance = kernel.create();
  const weights = weightsOf(kernel.description, random);
  const set = (name, value) => instance.weights.set({ ...weights, [name]: value });
  const { length } = weights.linear1_weight;
  await refuses(() => set("linear1_weight", new Int8Array(length)), "weights", "expected bfloat16");
  await refuses(() => set("linear1_weight", new Uint16Array(length - 1)), "shape", "linear1_weight");
  await refuses(() => set("linear1_bias", new Uint16Array(24)), "weights", "expected float32, got bfloat16");
  await refuses(() => set("linear1_weight", new Uint8Array(length)), "weights", "int4 weights need a kernel with PRECISION int4");
  await refuses(() => load(testKernel("bfloat16_plain"), { variant: "scalar", precision: "float32" }), "unsupported", "bfloat16");
  await refuses(() => load("attention_384_12", { precision: "bfloat16" }), "unknown-kernel", "kernel shipped in bfloat16");
  const sizes = { kind: "attention", tokens: 9, model: 64, heads: 4 };
  await refuses(() => load(sizes, { precision: "bfloat16" }), "unknown-kernel", "PRECISION bfloat16");
  const float32 = await load(moduleBytes("attention_64_4", "scalar"));
  const others = weightsOf(float32.description, random);
  const halves = new Uint16Array(others.out_proj_weight.length);
  await refuses(() => float32.create().weights.set({ ...others, out_proj_weight: halves }), "weights", "expected float32, got bfloat16");
});
