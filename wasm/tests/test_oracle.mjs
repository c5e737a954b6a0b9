// Compares every shipped module, in every variant that this engine runs, with the oracle, at awkward lengths.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../dist/index.js";
import { bound } from "./oracle.mjs";
import { expected, randomOf, randoms, runs, shipped, shippedNames, variants, weightsOf } from "./kernels.mjs";

/**
 * Returns the largest difference between actual[i] and wanted[i], divided by `allowed`. The test passes if the result
 * is at most 1. A NaN in `actual` gives Infinity.
 */
const share = (actual, wanted, allowed) => {
  let most = 0;
  wanted.forEach((value, i) => {
    const off = Math.abs(actual[i] - value) / allowed;
    most = Number.isNaN(off) ? Infinity : Math.max(most, off);
  });
  return most;
};
const largest = (rows) => Math.max(1, ...rows.flat(3).map(Math.abs));

/** `oracle` returns the result of oracle.mjs for the weights, x and the arguments that follow x. */
const check = (instance, oracle, x, { tokens, queries, keys, options = {}, maySee }) => {
  const { description } = instance;
  const { model, feedForward = model, layers = 1, heads } = description;
  const input = x.subarray(0, Math.max(queries, keys) * model);
  const wanted = oracle(input, queries, keys, maySee);
  const y = instance.run(input, { tokens, queries, keys, ...options, attention: true }).slice();
  assert.equal(y.length, queries * model);
  const longest = Math.max(feedForward, model, keys);
  // `depth` is the number of computations that follow each other, whose errors add up. Attention has 5: projection,
  // scores, softmax, weighted sum and output. An encoder layer has 7 more: two linear maps, the activation, two
  // residual sums and two norms.
  const depth = (description.kind === "attention" ? 5 : 12) * layers;
  const off = share(y, wanted.y.flat(), bound({ longest, depth, size: largest(wanted.y) }));
  let mapsOff = 0;
  wanted.maps.forEach((maps, layer) => {
    const map = instance.attention(layer);
    assert.equal(map.length, heads * description.queries * description.keys);
    maps.forEach((rows, h) =>
      rows.forEach((row, i) => {
        const at = (h * description.queries + i) * description.keys;
        mapsOff = Math.max(mapsOff, share(map.subarray(at, at + row.length), row, bound({ longest, depth, size: 1 })));
      }),
    );
  });
  const again = instance.run(input, { tokens, queries, keys, ...options });
  assert.deepEqual(new Uint32Array(again.slice().buffer), new Uint32Array(y.buffer), "a second run gives other bits");
  return Math.max(off, mapsOff);
};

const lengthsOf = (description) => {
  // The oracle is slow for large kernels, so they run at few lengths. A WebAssembly vector has 4 lanes, so the lengths
  // for small kernels have all remainders modulo 4.
  const macs = description.model ** 2 * (description.layers ?? 1);
  const lengths = macs > 4e5 ? [1, 7, 18] : macs > 5e4 ? [1, 3, 17, 33] : [0, 1, 2, 3, 5, 16, 17, 31, 33, 65];
  return lengths.filter((n) => n <= description.queries);
};

// test_int8_oracle.mjs tests the int8 modules.
for (const name of shippedNames.filter((one) => !one.endsWith("_int8"))) {
  const results = []; // of the oracle, in the order of the checks, which is the same for each variant
  for (const variant of variants) {
    if (!runs(name, variant)) {
      test(`${name}.${variant}`, { skip: `this engine has no ${variant}` }, () => {});
      continue;
    }
    test(`${name}.${variant}`, async (t) => {
      const kernel = await load(shipped(name), { variant });
      const { description } = kernel;
      const { model, mask } = description;
      const random = randomOf(7);
      const instance = kernel.create();
      const weights = weightsOf(description, random);
      instance.weights.set(weights);
      // All memory that a run may use holds NaN, so that a read of unwritten memory changes the result.
      instance.run(new Float32Array(description.queries * model).fill(NaN), { attention: true });
      let count = 0;
      const oracle = (...given) => {
        results[count] ??= expected(description, weights, ...given);
        return results[count++];
      };
      let most = 0;
      const tell = (off) => {
        assert.ok(off <= 1, `off by ${off} of the bound`);
        most = Math.max(most, off);
      };
      for (const n of lengthsOf(description)) {
        const x = randoms(random, n * model);
        const all = () => true;
        tell(check(instance, oracle, x, { tokens: n, queries: n, keys: n, maySee: all }));
        if (n > 2) {
          const queries = n - 2;
          tell(check(instance, oracle, x, { queries, keys: n, maySee: all }));
          if (mask.includes("causal")) {
            const causal = kernel.create({ mask: "causal" });
            causal.weights.set(weights);
            tell(check(causal, oracle, x, { queries, keys: n, maySee: (i, j) => j <= i + 2 }));
            const options = { offset: -1 }; // the first query sees no key
            tell(check(causal, oracle, x, { queries: n, keys: n, options, maySee: (i, j) => j < i }));
            causal.free();
          }
        }
        if (mask.includes("padding") && n > 1) {
          const padding = Uint8Array.from({ length: n }, (_, j) => +(j % 3 !== 1));
          tell(
            check(instance, oracle, x, {
              queries: n,
              keys: n,
              options: { padding },
              maySee: (_, j) => padding[j] > 0,
            }),
          );
          const both = kernel.create({ mask: ["causal", "padding"] });
          both.weights.set(weights);
          const maySee = (i, j) => j <= i && padding[j] > 0;
          tell(check(both, oracle, x, { queries: n, keys: n, options: { padding }, maySee }));
          both.free();
        }
      }
      t.diagnostic(`largest distance: ${most.toFixed(3)} of the bound`);
    });
  }
}
