// Tests attention without projections, whose queries, keys and values the caller gives. The expected results come from
// ONNX's tests of the operator Attention, and from the oracle.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "../dist/index.js";
import { runnableOf, skipWithoutKernels as skip, testKernel } from "./int8_kernels.mjs";
import { randomOf, randoms, rowsOf } from "./kernels.mjs";
import { bound, givenAttention } from "./oracle.mjs";
import { refuses } from "./refuses.mjs";

const random = randomOf(17);
const distance = (a, b) => {
  assert.equal(a.length, b.length);
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);
};
/** Splits numbers [heads][rows][width] into lists of rows. */
const headsOf = (flat, heads, width) => {
  const each = flat.length / heads;
  return Array.from({ length: heads }, (_, h) => rowsOf(Float32Array.from(flat.slice(h * each, (h + 1) * each)), width));
};

for (const variant of runnableOf("given")) {
  test(`given.${variant} agrees with the oracle`, { skip }, async () => {
    const kernel = await load(testKernel("given"), { variant });
    const { heads, kvHeads, headWidth: width, queries: mostQueries, keys: mostKeys } = kernel.description;
    const instance = kernel.create();
    const nan = (count) => new Float32Array(count * width).fill(NaN);
    instance.run(nan(heads * mostQueries), { k: nan(kvHeads * mostKeys), v: nan(kvHeads * mostKeys), attention: true });
    for (const [queries, keys] of [[1, 1], [0, 4], [3, 0], [1, 21], [5, 9], [19, 21], [18, 20]]) {
      const [q, k, v] = [heads * queries, kvHeads * keys, kvHeads * keys].map((rows) => randoms(random, rows * width));
      const padding = Uint8Array.from({ length: keys }, (_, j) => +(j % 3 !== 1));
      for (const [options, maySee] of [
        [{}, () => true],
        [{ padding }, (_, j) => padding[j] > 0],
      ]) {
        const y = instance.run(q, { queries, keys, k, v, ...options }).slice();
        const wanted = givenAttention(headsOf(q, heads, width), headsOf(k, kvHeads, width), headsOf(v, kvHeads, width), maySee);
        // Three steps: scores, softmax and weighted sum.
        const allowed = bound({ longest: Math.max(width, mostKeys), depth: 3, size: 1 });
        const numbers = keys ? wanted.flat(2) : new Array(heads * queries * width).fill(0);
        assert.ok(distance(y, numbers) <= allowed, `${queries} queries, ${keys} keys: ${distance(y, numbers)}`);
        assert.deepEqual(instance.run(q, { queries, keys, k, v, ...options }), y, "a second run gives other bits");
      }
    }
    // Arrays with room for all tokens: each head has the rows of the largest run.
    const [queries, keys] = [4, 7];
    const all = [heads * mostQueries, kvHeads * mostKeys, kvHeads * mostKeys].map((rows) => randoms(random, rows * width));
    const part = (flat, count, most, n) =>
      Float32Array.from(Array.from({ length: count }, (_, h) => [...flat.subarray(h * most * width, (h * most + n) * width)]).flat());
    const short = [part(all[0], heads, mostQueries, queries), part(all[1], kvHeads, mostKeys, keys), part(all[2], kvHeads, mostKeys, keys)];
    const run = ([q, k, v]) => instance.run(q, { queries, keys, k, v }).slice();
    assert.deepEqual(run(all), run(short));
  });
}

const folder = new URL("../../../shared/conformance/onnx-attention/", import.meta.url);
const withoutCases = existsSync(folder) ? skip : "the test vectors of ONNX are missing";
for (const name of ["attention_4d", "attention_4d_causal", "attention_4d_attn_mask_3d"]) {
  test(`ONNX's ${name}`, { skip: withoutCases }, async () => {
    const { attributes, inputs, outputs } = JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8"));
    const { Q, K, V, attn_mask: mask } = inputs;
    assert.deepEqual([Q.dims, K.dims], [[2, 3, 4, 8], [2, 3, 6, 8]]);
    for (const variant of runnableOf("onnx_given")) {
      const instance = (await load(testKernel("onnx_given"), { variant })).create();
      const each = ({ data }, i) => data.slice((i * data.length) / 2, ((i + 1) * data.length) / 2);
      for (const i of [0, 1]) {
        // ONNX's causal mask is top left: the offset is 0. Without a causal mask, no key is hidden.
        const options = { k: each(K, i), v: each(V, i), offset: attributes.is_causal ? 0 : 6, additive: mask && each(mask, i) };
        assert.ok(distance(Array.from(instance.run(each(Q, i), options)), each(outputs.Y, i)) < 1e-5);
      }
    }
  });
}

test("masks of pairs, sinks, an offset, values of another width", { skip }, async () => {
  const kernel = await load(testKernel("odd_given"), { variant: "scalar" });
  const { heads, kvHeads, headWidth, valueWidth } = kernel.description;
  assert.deepEqual([heads, kvHeads, headWidth, valueWidth], [4, 2, 6, 5]);
  const instance = kernel.create();
  const [queries, keys] = [5, 8];
  const [q, k] = [heads * queries, kvHeads * keys].map((rows) => randoms(random, rows * headWidth));
  const v = randoms(random, kvHeads * keys * valueWidth);
  const additive = randoms(random, heads * queries * keys);
  const none = new Array(heads).fill(-Infinity);
  const given = { queries, keys, k, v, sinks: none };
  const wanted = (maySee) =>
    givenAttention(headsOf(q, heads, headWidth), headsOf(k, kvHeads, headWidth), headsOf(v, kvHeads, valueWidth), maySee).flat(2);
  const agrees = (options, maySee) => assert.ok(distance(instance.run(q, { ...given, ...options }), wanted(maySee)) < 1e-6);
  const bias = (i, j, h) => additive[(h * queries + i) * keys + j];
  agrees({ offset: keys }, () => true);
  agrees({ offset: keys, additive }, bias);
  agrees({ offset: 1, additive }, (i, j, h) => (j <= i + 1 ? bias(i, j, h) : false));
  const half = instance.run(q, { ...given, offset: keys, sinks: new Array(heads).fill(30) });
  assert.ok(half.every((value) => Math.abs(value) < 1e-6), "a large sink takes the attention");
  instance.run(q, { ...given, attention: true });
  assert.equal(instance.attention().length, heads * 7 * 11);

  const fails = (options, ...error) => refuses(() => instance.run(q, { ...given, ...options }), ...error);
  await fails({ k: undefined }, "length", "length of k", "got undefined");
  await fails({ v: q }, "length", "length of v", `expected ${kvHeads * keys * valueWidth} or ${kvHeads * 11 * valueWidth}`);
  await fails({ keys: 12 }, "length", "keys");
  await fails({ sinks: undefined }, "option", "sinks");
  await fails({ context: q }, "option", "k,v");
  await fails({ tokens: 5 }, "option");
  await refuses(() => instance.run(q.subarray(1), given), "length", "length of q");
  await refuses(() => instance.weights.set({ in_proj_weight: q }), "weights", "no others");
  instance.weights.set({});
  agrees({ offset: keys }, () => true);
  assert.ok((await kernel.warmUp({ most: 30 })).calls > 0);
});
