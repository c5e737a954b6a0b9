// Tests the probe of the engine's relaxed dot product (src/relaxed-dot.ts), with imitations of every kind of engine and
// with this engine.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { arch } from "node:os";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { classify, makeProbe, relaxedDot } from "../dist/relaxed-dot.js";
import { runnable } from "./int8_kernels.mjs";

const skip = runnable.includes("relaxed") ? false : "this engine has no relaxed";

const saturate = (sum) => Math.max(-32768, Math.min(32767, sum));
const pairs = (a, b) => [a[0] * b[0] + a[1] * b[1], a[2] * b[2] + a[3] * b[3]];
const signed = (b) => Array.from(Int8Array.from(b));
/**
 * Each function computes a sum of four products, like a dot product of one kind of engine. Some functions imitate
 * broken engines, and compute wrong sums.
 */
const dots = {
  unsigned: (a, b) => pairs(a, b)[0] + pairs(a, b)[1],
  signed: (a, b) => dots.unsigned(a, signed(b)),
  saturating: (a, b) => saturate(pairs(a, b)[0]) + saturate(pairs(a, b)[1]),
  // Reads the bytes of `b` as signed, and saturates sums of two products at 16 bits. All sums of the probe fit in 16
  // bits, so all results are exact.
  signedSaturating: (a, b) => dots.saturating(a, signed(b)),
  oneTooMany: (a, b) => dots.unsigned(a, b) + 1,
  firstPairOnly: (a, b) => pairs(a, b)[0],
  unsignedBoth: (a, b) => dots.unsigned(Array.from(Uint8Array.from(a)), b),
};

/**
 * Returns an imitation of the probe of relaxed-dot.ts, with dot products in JavaScript. Call number i of `dots` uses
 * the function dotOf(i) for each dot product. `add(c, dot, count)` adds the dot product
 * `count` times to `c`.
 */
const imitation = (dotOf, add = (c, dot, count) => c + dot * count) => {
  const buffer = new ArrayBuffer(64);
  const [a, b, words] = [new Int8Array(buffer), new Uint8Array(buffer, 16), new Int32Array(buffer)];
  const probe = { memory: { buffer }, calls: 0 };
  probe.dots = (count) => {
    const dot = dotOf(probe.calls++);
    for (let lane = 0; lane < 4; ++lane) {
      const quad = [a, b].map((bytes) => Array.from(bytes.subarray(4 * lane, 4 * lane + 4)));
      words[12 + lane] = add(words[8 + lane], dot(...quad), count);
    }
  };
  return probe;
};

for (const [engine, kind] of [
  ["unsigned", "unsigned"],
  ["signed", "signed"],
  ["saturating", "saturating"],
  ["signedSaturating", "signed"],
  ["oneTooMany", "wrong"],
  ["firstPairOnly", "wrong"],
  ["unsignedBoth", "wrong"],
]) {
  test(`an engine: ${engine}`, async () => {
    assert.equal(await classify(imitation(() => dots[engine])), kind);
  });
}

test("an engine that drops c or doubles the product", async () => {
  const forgets = imitation(() => dots.unsigned, (c, dot, count) => dot * count);
  assert.equal(await classify(forgets), "wrong");
  const doubles = imitation(() => dots.unsigned, (c, dot, count) => (count === 1 ? c + 2 * dot : c + dot * count));
  assert.equal(await classify(doubles), "wrong");
});

test("engines with wrong fresh code, and with wrong optimised code", async () => {
  const early = imitation((call) => (call < 1 ? dots.oneTooMany : dots.unsigned));
  assert.equal(await classify(early), "wrong");
  assert.equal(early.calls <= 6, true, "the first wrong sum is enough");
  assert.equal(await classify(imitation((call) => (call < 25 ? dots.unsigned : dots.oneTooMany))), "wrong");
});

test("an engine whose fresh and optimised code differ above 127 has 7 bits", async () => {
  const mixed = (first, then) => classify(imitation((call) => (call < 20 ? dots[first] : dots[then])));
  assert.equal(await mixed("signed", "unsigned"), "saturating");
  assert.equal(await mixed("unsigned", "saturating"), "saturating");
});

// This test must run before the test "this engine", whose probe consists of the same bytes. If it ran later, V8 would
// reuse its optimised code, and the test would see no unoptimised code.
test("the probe sees fresh and optimised code", { skip }, async (t) => {
  setFlagsFromString("--allow-natives-syntax");
  const tierOf = () => {
    try {
      return new Function("f", "return %IsLiftoffFunction(f) ? 'fresh' : %IsTurboFanFunction(f) ? 'optimised' : 'other'");
    } catch {
      return undefined; // this version of V8 does not report the tier
    }
  };
  const tier = tierOf();
  const probe = makeProbe();
  const tiers = [];
  const watched = {
    memory: probe.memory,
    dots(count) {
      if (tier) tiers.push(tier(probe.dots));
      probe.dots(count);
    },
  };
  const kind = await classify(watched);
  if (!tier || kind === "wrong") return t.diagnostic(`not observed: ${tier ? kind : "V8 does not say"}`);
  t.diagnostic(`${tiers.filter((one) => one === "fresh").length} fresh calls of ${tiers.length}`);
  assert.equal(tiers.find((one) => one !== "other"), "fresh"); // V8 compiles a function at its first call
  assert.equal(tiers.at(-1), "optimised");
});

/** Returns the kinds of dot product that versions of V8 compute on this processor. */
const ofProcessor = () => {
  if (arch() === "arm64") return ["signed"];
  const flags = readFileSync("/proc/cpuinfo", "utf8");
  if (/\bavx_vnni_int8\b/.test(flags)) return ["signed", "unsigned"]; // older versions do not use vpdpbssd
  return /\bavx_vnni\b/.test(flags) ? ["unsigned"] : ["saturating"];
};

test("this engine", { skip }, async (t) => {
  const kind = await relaxedDot();
  t.diagnostic(`${process.version}: ${kind}`);
  const isNode20 = process.version.startsWith("v20.");
  if (isNode20 && arch() === "x64") assert.equal(kind, "wrong");
  else if (process.platform === "linux") assert.ok(ofProcessor().includes(kind), kind);
  assert.equal(relaxedDot(), relaxedDot(), "the engine is probed once");
});
