// Tests rotary tables with scaled frequencies, a table for each kind of layers, tables of relative positions, and
// layers without a norm. tests/kernels/CMakeLists.txt makes modules with these features.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { load } from "../dist/index.js";
import { expected, randomOf, randoms, weightsOf } from "./kernels.mjs";
import { relativeBucket, rotation } from "./oracle.mjs";
import { refuses } from "./refuses.mjs";
import { safetensors } from "./safetensors.mjs";

const folder = new URL("kernels/modules/", import.meta.url);
const skip = existsSync(new URL("odd_kinds.scalar.wasm", folder)) ? false : "tests/kernels is not built";
const random = randomOf(8);

const prepared = async (name) => {
  const kernel = await load(new URL(name, folder), { variant: "scalar" });
  const { description } = kernel;
  const weights = weightsOf(description, random);
  const x = randoms(random, description.queries * description.model, 2);
  return { kernel, instance: kernel.create(), description, weights, x };
};
const distance = (actual, rows) => {
  const wanted = rows.flat();
  assert.equal(actual.length, wanted.length);
  return Math.max(...wanted.map((value, i) => Math.abs(value - actual[i])));
};
const without = (record, ...names) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

const scalings = [
  { kind: "none", base: 50 },
  { kind: "linear", base: 50, factor: 3, negated: true },
  { kind: "dynamic", base: 50, factor: 4, originalPositions: 9 },
  { kind: "llama3", base: 50, factor: 8, originalPositions: 16, lowFrequencyFactor: 0.5, highFrequencyFactor: 3 },
  { kind: "yarn", base: 50, factor: 4, originalPositions: 64, betaFast: 9, betaSlow: 2, truncate: false },
  { kind: "yarn", base: 50, factor: 4, originalPositions: 64, attentionFactor: 1.5 },
  { kind: "longrope", base: 50, factor: 4, originalPositions: 64, factors: [1, 1.5, 2.5, 4] },
  { kind: "longrope", factor: 4, originalPositions: 64, attentionFactor: 2, factors: new Float64Array([3, 1, 2, 4]) },
  { kind: "proportional", base: 50, proportion: 0.5 },
  { kind: "proportional", base: 50, proportion: 0.75, factor: 2 },
];

test("scaled rotary frequencies, with a table for each kind of layers", { skip }, async () => {
  const { instance, description, weights, x } = await prepared("odd_kinds");
  const { queries, rotary, layers } = description;
  const bare = without(weights, "layers.0.norm1_weight", "layers.0.norm1_bias");
  instance.weights.set(bare);
  const wanted = (list) => {
    const ofLayer = (i) => (Array.isArray(list) ? list[i] : list);
    const turns = Array.from({ length: layers }, (_, i) => rotation(ofLayer(i), rotary.positions));
    return expected(description, bare, x, queries, queries, () => true, turns).y;
  };
  for (const given of scalings) {
    for (const list of [[given, {}], [{ scaling: 2 }, given], given]) {
      const y = instance.run(x, { rotary: list }).slice();
      assert.ok(distance(y, wanted(list)) < 2e-5, `${JSON.stringify(list)}: ${distance(y, wanted(list))}`);
      assert.deepEqual(instance.run(x, { rotary: list }).slice(), y, "the tables are kept");
    }
    const changes = { base: 20, factor: 5.5, originalPositions: 300, attentionFactor: 1.1, negated: !given.negated };
    Object.assign(changes, { lowFrequencyFactor: 1.5, highFrequencyFactor: 5, betaFast: 20, betaSlow: 0.5 });
    Object.assign(changes, { truncate: true, proportion: 0.25, factors: [1, 2, 3, 4] });
    const y = instance.run(x, { rotary: given }).slice();
    const unread = given.kind === "longrope" && given.attentionFactor ? ["factor", "originalPositions"] : [];
    for (const name of Object.keys(without(given, "kind", ...unread))) {
      const other = { ...given, [name]: changes[name] };
      const changed = instance.run(x, { rotary: other }).slice();
      assert.ok(changed.some((value, i) => Math.abs(value - y[i]) > 1e-4), `${given.kind}: ${name} changes nothing`);
      assert.ok(distance(changed, wanted(other)) < 2e-5, `${given.kind}: another ${name}`);
    }
  }
  const later = scalings.slice(1, 3).map((one) => ({ ...one, offset: 50 }));
  assert.ok(distance(instance.run(x, { rotary: later }), wanted(later)) < 2e-5, "an offset");
});

test("wrong rotary options", { skip }, async () => {
  const { instance, weights, x } = await prepared("odd_kinds");
  instance.weights.set(weights);
  const [, linear, , llama3, yarn, , longrope] = scalings;
  const y = instance.run(x, { rotary: linear }).slice();
  for (const [rotary, code, ...texts] of [
    [{ kind: "su" }, "option", "rotary.kind: expected none,linear,dynamic,llama3,yarn,longrope,proportional, got su"],
    [{ kind: null }, "option", "rotary.kind", "got null"],
    [{ kind: Object.create(null) }, "option", "rotary.kind"],
    [{ kind: "toString" }, "option", "rotary.kind"],
    [{ kind: "linear" }, "option", "rotary.factor: expected a number, got undefined"],
    [without(llama3, "originalPositions"), "option", "rotary.originalPositions"],
    [without(longrope, "factors"), "length", "length of rotary.factors: expected 4"],
    [{ kind: "proportional" }, "option", "rotary.proportion"],
    [{ ...longrope, factors: [1, 2, 3] }, "length", "length of rotary.factors: expected 4, got 3"],
    [{ ...longrope, factors: [1, 2, 3, 0] }, "option", "rotary.factors: expected a number above 0, got 0"],
    [{ ...longrope, factors: "1234" }, "length", "rotary.factors"],
    [{ ...longrope, originalPositions: 1 }, "status", "out of range"],
    [{ ...yarn, betaFast: "32" }, "option", "rotary.betaFast", "a number"],
    [{ ...yarn, attentionFactor: NaN }, "option", "rotary.attentionFactor: expected a number above 0, got NaN"],
    [{ ...linear, factor: 0 }, "option", "rotary.factor: expected a number above 0, got 0"],
    [{ ...linear, base: 1.5 }, "status", "rotary.base"],
    [{ ...linear, scaling: 2 }, "option", "got scaling"],
    [{ ...linear, betaFast: 32 }, "option", "expected kind,offset,base,negated,factor, got betaFast"],
    [{ ...llama3, highFrequencyFactor: 0.25 }, "status"],
    [{ ...linear, offset: 65 }, "length", "rotary.offset"],
    [{ factor: 2 }, "option", "expected base,scaling,offset,kind, got factor"],
    [[linear], "length", "length of rotary: expected 2, got 1"],
    [[linear, null], "option", "options"],
    [[linear, { ...linear, offset: 1 }], "option", "rotary.offset: expected 0, as of the first kind, got 1"],
  ]) {
    await refuses(() => instance.run(x, { rotary }), code, ...texts);
    assert.deepEqual(instance.run(x, { rotary: linear }).slice(), y);
  }
});

test("the norm of a layer whose attention has no norm may be missing", { skip }, async () => {
  const { kernel, instance, weights, x } = await prepared("odd_kinds");
  assert.deepEqual(kernel.description.unnormed, [0]);
  const none = without(weights, "layers.0.norm1_weight", "layers.0.norm1_bias");
  instance.weights.set(weights);
  const y = instance.run(x).slice();
  const shapes = Object.fromEntries(kernel.description.layer.map(({ name, shape }) => [name, shape]));
  const entry = ([name, data]) => [`model.${name}`, shapes[name.slice("layers.0.".length)], data];
  const fileOf = (record) => safetensors(Object.entries(record).map(entry));
  for (const record of [none, without(weights, "layers.0.norm1_bias")]) {
    const other = kernel.create();
    other.weights.set(record);
    assert.deepEqual(other.run(x).slice(), y);
    await other.weights.load(fileOf(record), { prefix: "model" });
    assert.deepEqual(other.run(x).slice(), y);
  }
  await refuses(() => instance.weights.set(without(none, "layers.1.norm1_weight")), "weights", "layers.1.norm1_weight");
  await refuses(() => instance.weights.load(fileOf(none), { prefix: "encoder" }), "weights", "below the prefix model");
  await refuses(() => instance.weights.set({}), "weights", "layers.0.attention.in_proj_weight");
  assert.deepEqual(instance.run(x).slice(), y);
  assert.ok((await kernel.warmUp({ most: 50 })).calls > 0);
});

test("relative positions", { skip }, async () => {
  const { kernel, instance, description, weights, x } = await prepared("odd_relative");
  const { queries, heads } = description;
  instance.weights.set(weights);
  for (const [buckets, options] of [
    [32],
    [8, { maxDistance: 5 }],
    [8, { maxDistance: 5, causal: true }],
    [9, { maxDistance: 6, causal: true }],
  ]) {
    const bias = randoms(random, buckets * heads, 2);
    const added = (i, j, h) => bias[relativeBucket(j - i, buckets, options) * heads + h];
    const { y } = expected(description, weights, x, queries, queries, added);
    const relative = instance.relativeTable(bias, options);
    assert.ok(distance(instance.run(x, { relative }), y) < 1e-5, JSON.stringify(options));
    assert.deepEqual(instance.relativeTable(Array.from(bias), options), relative);
  }
  assert.ok((await kernel.warmUp({ most: 50 })).calls > 0);
});

test("a table from a tensor of the file, which is a view of memory that grows", { skip }, async () => {
  const { instance, description, weights } = await prepared("odd_relative");
  const bias = randoms(random, 32768 * 2);
  const entries = description.weights.map(({ name, shape }) => [name, shape, weights[name]]);
  await instance.weights.load(safetensors([...entries, ["relative_attention_bias.weight", [32768, 2], bias]]));
  const view = instance.weights.tensor("relative_attention_bias.weight", "float32");
  const table = instance.relativeTable(view, { maxDistance: 1e6 });
  assert.equal(view.length, 0, "the memory has grown");
  assert.deepEqual(instance.relativeTable(bias, { maxDistance: 1e6 }), table);
  assert.ok(table.some((one) => one !== 0));
});

test("wrong arguments of relativeTable", { skip }, async () => {
  const { instance, weights, x } = await prepared("odd_relative");
  instance.weights.set(weights);
  const bias = randoms(random, 16);
  const relative = instance.relativeTable(bias);
  const y = instance.run(x, { relative }).slice();
  for (const [given, options, code, ...texts] of [
    [undefined, {}, "length", "number of buckets"],
    [bias.subarray(1), {}, "length", "expected an integer from 4 to 65536, got 7.5"],
    [bias.subarray(0, 4), {}, "length", "from 4", "got 2"],
    [bias.subarray(0, 2), { causal: true }, "length", "from 2", "got 1"],
    ["0123456789abcdef", {}, "length", "length of bias"],
    [Array(16).fill(1n), {}, "option", "bias"],
    [bias, { maxDistance: 2 }, "length", "maxDistance: expected an integer from 3 to 2147483647, got 2"],
    [bias, { maxDistance: 5.5 }, "length", "maxDistance"],
    [bias, { max_distance: 128 }, "option", "max_distance"],
    [bias, null, "option", "options"],
  ]) {
    await refuses(() => instance.relativeTable(given, options), code, ...texts);
    assert.deepEqual(instance.run(x, { relative }).slice(), y);
  }
  await refuses(() => instance.run(x), "option", "relative");
  await refuses(() => instance.run(x, { relative: relative.subarray(1) }), "length", "relative");
  const other = (await prepared("odd_kinds")).instance;
  await refuses(() => other.relativeTable(bias), "mask", "relative");
  const plain = (await load("attention_64_4", { variant: "scalar" })).create();
  await refuses(() => plain.relativeTable(bias), "mask", "expected relative, got causal,padding");
  instance.free();
  await refuses(() => instance.relativeTable(bias), "closed");
});
