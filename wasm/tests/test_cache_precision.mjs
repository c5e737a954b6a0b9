// Compares decoding with bfloat16 and int8 caches (CACHE_PRECISION) with the oracle. Four heads of queries share one
// head of keys and values.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../dist/index.js";
import { skipWithoutKernels, testKernel } from "./int8_kernels.mjs";
import { randomOf, randoms, rowsOf, weightsOf } from "./kernels.mjs";
import { attention } from "./oracle.mjs";

const random = randomOf(61);

for (const [name, most] of [
  ["cache_bfloat16", 0.02],
  ["cache_int8", 0.03],
]) {
  test(`a growing cache of another precision: ${name}`, { skip: skipWithoutKernels }, async () => {
    const kernel = await load(testKernel(name));
    const instance = kernel.create();
    const weights = weightsOf(kernel.description, random);
    assert.equal(kernel.description.cachePrecision, name.replace("cache_", ""));
    instance.weights.set(weights);
    const x = randoms(random, 12 * 16);
    const { in_proj_weight: weight, in_proj_bias: bias } = weights;
    // Four heads of queries share one head of keys and values. The oracle gets this head four times.
    const rows = (data, width) => ({
      q: data.slice(0, 16 * width),
      k: Array(4).fill([...data.slice(16 * width, 20 * width)]).flat(),
      v: Array(4).fill([...data.slice(20 * width, 24 * width)]).flat(),
    });
    const [w, b] = [rows(weight, 16), rows(bias, 1)];
    const given = { q: [w.q, b.q], k: [w.k, b.k], v: [w.v, b.v], out: [weights.out_proj_weight, weights.out_proj_bias] };
    const wanted = attention(rowsOf(x, 16), rowsOf(x, 16), given, 4, (i, j) => j <= i).y.flat();
    const y = [];
    for (const [first, tokens] of [
      [0, 5],
      [5, 1],
      [6, 1],
      [7, 4],
      [11, 1],
    ]) {
      y.push(...instance.run(x.subarray(first * 16, (first + tokens) * 16), { tokens }));
    }
    const rms = (values) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
    const error = rms(y.map((value, i) => value - wanted[i])) / rms(wanted);
    assert.ok(error > 1e-6 && error < most, `${error}`);
  });
}
