// Tests `load` for int8 kernels: precisions, bits of activations, and the choice of a variant on every kind of engine.
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { load } from "../dist/index.js";
import * as keywords from "../dist/keywords.js";
import * as minilm from "../dist/minilm.js";
import { exactKernel, runnable, skipWithoutKernels, testKernel } from "./int8_kernels.mjs";
import { moduleBytes, randomOf, randoms, runs, shipped, weightsOf } from "./kernels.mjs";
import { refuses } from "./refuses.mjs";

const skipWithoutRelaxed = runnable.includes("relaxed") ? false : "this engine has no relaxed";
const dist = fileURLToPath(new URL("../dist", import.meta.url));

test("a shipped kernel by its name and by its sizes", async () => {
  for (const source of ["attention_384_12", { kind: "attention", tokens: 20, model: 384, heads: 12 }]) {
    const { description } = await load(source, { precision: "int8" });
    assert.equal(description.name, "attention_384_12_int8");
    assert.equal(description.precision, "int8");
    assert.ok([7, 8].includes(description.activationBits));
    assert.deepEqual(description.weights[0], { name: "in_proj_weight", type: "int8", shape: [1152, 384] });
    for (const options of [{}, { precision: "float32" }, { precision: undefined, activationBits: null }]) {
      const float32 = (await load(source, options)).description;
      assert.equal(float32.name, "attention_384_12");
      assert.equal(float32.precision, "float32");
      assert.equal(float32.activationBits, undefined);
    }
  }
  for (const { loadKernel } of [minilm, keywords]) {
    const { layers, precision } = (await loadKernel({ precision: "int8" })).description;
    assert.deepEqual([layers > 1, precision], [true, "int8"]);
  }
});

test("kernels that are not shipped in int8", async () => {
  const int8 = { precision: "int8" };
  await refuses(() => load("attention_64_4", int8), "unknown-kernel", "int8", "attention_384_12", "got attention_64_4");
  await refuses(() => load("attention_128_4", int8), "unknown-kernel", "got attention_128_4");
  await refuses(() => load("attention_384_12_int8"), "unknown-kernel", "got attention_384_12_int8");
  await refuses(
    () => load({ kind: "attention", tokens: 100, model: 64, heads: 4 }, int8),
    "unknown-kernel",
    "ladon_add_kernel(attention_64_4 QUERIES 100 MODEL 64 HEADS 4 MASK causal padding OFFSET run_time PRECISION int8)",
    "attention_384_12",
  );
});

test("wrong options", { skip: skipWithoutKernels }, async () => {
  for (const precision of ["int2", 8, "", {}]) {
    await refuses(() => load("attention_384_12", { precision }), "option", "precision: expected float32,bfloat16,int8,int4");
  }
  for (const activationBits of [6, 9, "8", NaN, 0, true]) {
    await refuses(() => load("attention_384_12", { precision: "int8", activationBits }), "option", "activationBits: expected 7,8");
  }
  await refuses(() => load("attention_384_12", { activationBits: 7 }), "option", "expected int8 or int4, got float32");
  const float32 = moduleBytes("minilm", "scalar");
  await refuses(() => load(float32, { precision: "int8" }), "unsupported", "precision: expected int8, got float32");
  const int8 = moduleBytes("minilm_int8", "scalar");
  await refuses(() => load(int8, { precision: "float32" }), "unsupported", "precision: expected float32, got int8");
  await refuses(() => load(testKernel("int8_layer"), { precision: "float32", variant: "simd" }), "unsupported", "got int8");
  assert.equal((await load(int8, { precision: "int8" })).description.activationBits, 8);
  for (const variant of ["simd", "scalar"]) {
    const eight = { variant, activationBits: 8 };
    await refuses(() => load(testKernel("int8_portable"), eight), "unsupported", "activationBits", "expected 7, got 8");
  }
});

test("activations of 7 bits, in modules that do not depend on the engine", { skip: skipWithoutKernels }, async () => {
  for (const variant of ["simd", "scalar"]) {
    const bitsOf = async (name, activationBits) =>
      (await load(testKernel(name), { variant, activationBits })).description.activationBits;
    assert.equal(await bitsOf("int8_layer"), 8);
    assert.equal(await bitsOf("int8_layer", 8), 8);
    assert.equal(await bitsOf("int8_layer", 7), 7);
    assert.equal(await bitsOf("int8_portable"), 7);
    assert.equal(await bitsOf("int8_portable", 7), 7);
  }
  const { description } = await load(testKernel("int8_layer"), { variant: "simd", activationBits: 7 });
  assert.throws(() => (description.activationBits = 8), TypeError);
});

/** Sets Math.f16round, by which the package recognises V8 from version 13.5 on, for a test. */
const asNewEngine = (t, isNew) => {
  const own = Math.f16round;
  if (isNew) Math.f16round = Math.fround;
  else delete Math.f16round;
  t.after(() => (own ? (Math.f16round = own) : delete Math.f16round));
};

/**
 * Copies the package, but replaces relaxed-dot.js, which tests the engine. The replacement claims that the engine
 * computes dot products of the kind `kind`. If `kind` is undefined, the copy has no relaxed-dot.js. Returns `load` of
 * the copy.
 */
const packageFor = async (t, kind) => {
  asNewEngine(t, true);
  const folder = mkdtempSync(join(tmpdir(), "ladon-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of readdirSync(dist).filter((one) => one.endsWith(".js"))) copyFileSync(join(dist, name), join(folder, name));
  symlinkSync(join(dist, "modules"), join(folder, "modules"));
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  const probe = join(folder, "relaxed-dot.js");
  if (kind) writeFileSync(probe, `export const relaxedDot = async () => (++globalThis.asked, "${kind}");`);
  else rmSync(probe);
  globalThis.asked = 0;
  return (await import(pathToFileURL(join(folder, "index.js")))).load;
};

/** Calls `act`, and returns the arguments of all calls of set_activations. */
const activationsOf = async (act) => {
  const { Instance } = WebAssembly;
  const calls = [];
  WebAssembly.Instance = function (module) {
    const { exports } = new Instance(module);
    const { set_activations: set } = exports;
    if (!set) return { exports };
    return { exports: { ...exports, set_activations: (...args) => (calls.push(args), set(...args)) } };
  };
  try {
    await act();
  } finally {
    WebAssembly.Instance = Instance;
  }
  return calls;
};

const told = (kernel) =>
  activationsOf(async () => {
    kernel.create().free();
    await kernel.warmUp({ tokens: 1, most: 0 });
  });

for (const [kind, most, isSigned] of [
  ["unsigned", 8, 0],
  ["signed", 8, 1],
  ["saturating", 7, 0],
]) {
  test(`an engine whose relaxed dot is ${kind}`, { skip: skipWithoutRelaxed || skipWithoutKernels }, async (t) => {
    const load = await packageFor(t, kind);
    const isThis = (kernel, variant, bits) =>
      assert.deepEqual([kernel.variant, kernel.description.activationBits], [variant, bits]);
    for (const source of ["attention_384_12", testKernel("int8_layer"), moduleBytes("minilm_int8", "relaxed")]) {
      const kernel = await load(source, { precision: "int8" });
      isThis(kernel, "relaxed", most);
      assert.deepEqual(await told(kernel), Array(2).fill([most, isSigned]), "the instance, and the warm-up");
      const portable = await load(source, { precision: "int8", activationBits: 7 });
      isThis(portable, "relaxed", 7);
      assert.equal((await told(portable))[0][0], 7);
      const eight = load(source, { precision: "int8", activationBits: 8 });
      if (most === 8) isThis(await eight, "relaxed", 8);
      else if (!ArrayBuffer.isView(source)) isThis(await eight, "simd", 8);
      else await assert.rejects(eight, { code: "unsupported", message: /activationBits .*relaxed.* expected 7, got 8/ });
    }
    const built = await load(testKernel("int8_portable"));
    isThis(built, "relaxed", 7);
    assert.deepEqual(await told(built), [], "the module has no choice");
    for (const variant of ["simd", "scalar"]) {
      globalThis.asked = 0;
      const kernel = await load("attention_384_12", { precision: "int8", variant });
      isThis(kernel, variant, 8);
      assert.deepEqual((await told(kernel))[0], [8, 0]);
      assert.equal(globalThis.asked, 0);
    }
  });
}

test("an engine whose relaxed dot is wrong", { skip: skipWithoutRelaxed || skipWithoutKernels }, async (t) => {
  const load = await packageFor(t, "wrong");
  const unsupported = { code: "unsupported", message: /relaxed dot.* expected exact sums/ };
  const prefix = testKernel("int8_layer");
  for (const source of ["attention_384_12", { kind: "attention", tokens: 9, model: 512, heads: 8 }, prefix, `${prefix}`, prefix.pathname]) {
    for (const activationBits of [undefined, 7, 8]) {
      const kernel = await load(source, { precision: "int8", activationBits });
      assert.equal(kernel.variant, "simd");
      assert.equal(kernel.description.activationBits, activationBits ?? 8);
    }
    await assert.rejects(load(source, { precision: "int8", variant: "relaxed" }), unsupported);
  }
  assert.equal((await load(prefix)).variant, "simd");
  assert.equal((await load(testKernel("int8_portable"))).variant, "simd");
  const bytes = moduleBytes("minilm_int8", "relaxed");
  for (const source of [bytes, new WebAssembly.Module(bytes), `${prefix}.relaxed.wasm`]) {
    await assert.rejects(load(source), unsupported);
  }
  globalThis.asked = 0;
  assert.equal((await load("attention_384_12")).variant, runs("attention_384_12", "relaxed") ? "relaxed" : "simd");
  assert.equal(globalThis.asked, 0, "float32 kernels need no probe");
});

test("old V8 on x86 takes SIMD modules, and other engines relaxed modules", { skip: skipWithoutRelaxed }, async (t) => {
  asNewEngine(t, false);
  const old = process.arch === "x64" ? "simd" : "relaxed";
  for (const precision of ["float32", "int8"]) {
    const kernel = await load(shipped(`attention_384_12${precision === "int8" ? "_int8" : ""}`), { precision });
    if (precision === "float32" || old === "simd") assert.equal(kernel.variant, old);
    if (old === "simd") assert.equal(kernel.description.activationBits, precision === "int8" ? 8 : undefined);
  }
  asNewEngine(t, true);
  assert.equal((await load("attention_384_12")).variant, "relaxed");
});

test("an engine that lacks relaxed dot products supports no relaxed modules", async (t) => {
  const { validate } = WebAssembly;
  t.after(() => (WebAssembly.validate = validate));
  WebAssembly.validate = (bytes) => !`${bytes}`.includes("253,147,2") && validate(bytes);
  await refuses(() => load("attention_384_12", { variant: "relaxed" }), "unsupported", "got relaxed");
});

test("a probe that the network does not deliver", { skip: skipWithoutRelaxed }, async (t) => {
  const load = await packageFor(t, undefined);
  await assert.rejects(load("attention_384_12", { precision: "int8" }), { code: "network", message: /relaxed-dot\.js/ });
  await assert.rejects(load(moduleBytes("minilm_int8", "relaxed")), { code: "network", message: /relaxed-dot\.js/ });
  assert.equal((await load("attention_384_12", { precision: "int8", variant: "simd" })).variant, "simd");
  assert.equal((await load("attention_384_12")).description.precision, "float32");
});

test("an abort while the engine is probed", async () => {
  await refuses(() => load("attention_384_12", { precision: "int8", signal: AbortSignal.abort() }), "aborted");
});

test("the portable form gives equal bits in all variants", { skip: skipWithoutKernels }, async (t) => {
  const random = randomOf(31);
  const bits = [];
  let weights;
  let x;
  for (const variant of new Set([...runnable, "simd"])) {
    const kernel = await exactKernel(testKernel("int8_portable"), { variant });
    if (!kernel) {
      t.diagnostic(`this engine does not compute ${variant} exactly`);
      continue;
    }
    weights ??= weightsOf(kernel.description, random);
    x ??= randoms(random, 9 * kernel.description.model);
    const instance = kernel.create();
    instance.weights.set(weights);
    const y = instance.run(x, { tokens: 9, attention: true }).slice();
    bits.push([y, instance.attention(0).slice(), instance.attention(1).slice()].map(({ buffer }) => new Uint32Array(buffer)));
  }
  assert.ok(bits.length >= 2);
  for (const others of bits.slice(1)) assert.deepEqual(others, bits[0]);
});
