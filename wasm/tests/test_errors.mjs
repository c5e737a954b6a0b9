// Tests calls with wrong arguments. Such a call must throw a LadonError that states the expected value. The call must
// write nothing.
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { DateReader } from "../dist/date-reader.js";
import { load } from "../dist/index.js";
import { KeywordSpotter } from "../dist/keywords.js";
import { SentenceEncoder } from "../dist/minilm.js";
import { Model } from "../dist/model.js";
import { moduleBytes, randomOf, randoms, shipped, weightsOf } from "./kernels.mjs";
import { emptyModule as empty, withSection } from "./module_file.mjs";
import { refuses } from "./refuses.mjs";

const random = randomOf(3);
const kernel = await load("attention_64_4", { variant: "scalar" });
const { model, heads, queries: most } = kernel.description;
const weights = weightsOf(kernel.description, random);
const ready = (options) => {
  const instance = kernel.create(options);
  instance.weights.set(weights);
  return instance;
};

test("a view of memory that has grown, or of a transferred buffer, is named as such", async () => {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const grown = new Float32Array(memory.buffer, 0, 8 * model);
  memory.grow(1);
  const transferred = randoms(random, 8 * model);
  structuredClone(transferred, { transfer: [transferred.buffer] });
  for (const x of [grown, transferred]) {
    await refuses(() => ready().run(x, { tokens: 8 }), "length", "x has lost its numbers");
  }
});

test("lengths of x and of a run", async () => {
  const instance = ready();
  const x = randoms(random, 8 * model);
  const before = instance.run(x, { tokens: 8 }).slice();
  const y = instance.run(x, { tokens: 8 });
  const bad = [
    () => instance.run(x),
    () => instance.run(x, { tokens: 7 }),
    () => instance.run(x.subarray(1), { tokens: 8 }),
    () => instance.run([], { tokens: 8 }),
    () => instance.run(undefined, { tokens: 8 }),
    () => instance.run(null, { tokens: 8 }),
    () => instance.run(8 * model, { tokens: 8 }),
    () => instance.run("x".repeat(8 * model), { tokens: 8 }),
    () => instance.run(new DataView(x.buffer), { tokens: 8 }),
    () => instance.run(x.buffer, { tokens: 8 }),
    () => instance.run(x, { tokens: 8, padding: new Uint8Array(9) }),
    () => instance.run(x, { tokens: 8, queries: 9 }),
    ...[NaN, 1.5, -1, most + 1, Infinity, "8", 8n, 2 ** 32].flatMap((n) => [
      () => instance.run(x, { tokens: n }),
      () => instance.run(x, { tokens: 8, queries: n }),
      () => instance.run(x, { keys: n }),
    ]),
  ];
  for (const act of bad) await refuses(act, "length");
  await refuses(() => instance.run(x), "length", `length of x: expected ${most * model} (fewer: option tokens), got ${8 * model}`);
  await refuses(
    () => instance.run(x, { tokens: most + 1 }),
    "length",
    "tokens",
    `an integer from 0 to ${most}`,
    `${most + 1}`,
  );
  for (const offset of [NaN, 0.5, 2 ** 31])
    await refuses(() => instance.run(x, { tokens: 8, offset }), "length", "offset");
  assert.deepEqual(y, before, "an error wrote into y");
});

test("a class that its function load makes, and new", async () => {
  for (const [name, Class] of Object.entries({ DateReader, KeywordSpotter, Model, SentenceEncoder })) {
    const text = `new ${name}: expected await ${name}.load(...), got new`;
    for (const given of [[], [{ module: "/m/a", weights: "/m/a.weights" }]]) {
      await refuses(() => new Class(...given), "option", text);
    }
  }
});

test("a detached x", async () => {
  const x = randoms(random, 8 * model);
  structuredClone(x, { transfer: [x.buffer] });
  await refuses(() => ready().run(x, { tokens: 8 }), "length", "x has lost its numbers");
});

test("options", async () => {
  const instance = ready();
  const x = randoms(random, model);
  await refuses(() => instance.run(x, { token: 1 }), "option", "tokens", "got token");
  await refuses(() => instance.run(x, { tokens: 1, additive: x }), "option", "additive");
  await refuses(() => instance.run(x, { tokens: 1, context: x }), "option", "context");
  instance.run(x, { tokens: 1, additive: undefined });
  const mixed = Array.from(x);
  for (const odd of [new BigInt64Array(model), [...mixed.slice(1), 1n], [...mixed.slice(1), Symbol()]])
    await refuses(() => instance.run(odd, { tokens: 1 }), "option", "numbers");
  for (const offset of [1n, "1", {}, true]) {
    await refuses(() => instance.run(x, { tokens: 1, offset }), "length", "offset");
  }
  await refuses(() => instance.run(x, { tokens: Symbol("five") }), "length", "Symbol(five)");
  await refuses(() => instance.run(x, { tokens: Object.create(null) }), "length", "got object");
  for (const padding of ["", false, 0])
    await refuses(() => instance.run(x, { tokens: 1, padding }), "length", "padding");
});

test("values that are no options, and unknown options, wherever options are passed", async () => {
  const instance = ready();
  const x = randoms(random, model);
  const calls = {
    load: ["variant,precision,activationBits,threads,signal", (options) => load("attention_64_4", options)],
    create: ["mask", (options) => kernel.create(options)],
    run: ["tokens,queries,keys,offset,padding,attention", (options) => instance.run(x, options)],
    set: ["prefix", (options) => instance.weights.set(weights, options)],
    "weights.load": ["prefix,progress,signal", (options) => instance.weights.load(new Uint8Array(9), options)],
    warmUp: ["tokens,most,attention", (options) => kernel.warmUp(options)],
  };
  for (const [known, call] of Object.values(calls)) {
    for (const options of [null, 5, "causal", Symbol("a")]) await refuses(() => call(options), "option", known);
    await refuses(() => call(["causal"]), "option", known, "got 0");
    await refuses(() => call({ nobody: 1 }), "option", `expected ${known}, got nobody`);
  }
  await refuses(() => instance.weights.load(new Uint8Array(9), { progress: 5 }), "option", "progress");
  for (const signal of [5, {}, new AbortController()]) {
    await refuses(() => instance.weights.load(new Uint8Array(9), { signal }), "option", "AbortSignal");
    await refuses(() => load("attention_64_4", { signal }), "option", "AbortSignal");
  }
  for (const tensors of [null, undefined, new Map(Object.entries(weights))]) {
    await refuses(() => instance.weights.set(tensors), "weights", "in_proj_weight");
  }
  for (const prefix of [5, null]) await refuses(() => instance.weights.set(weights, { prefix }), "weights");
});

test("numbers of other types are converted as Float32Array converts them", () => {
  const instance = ready();
  const x = randoms(random, 3 * model);
  const y = instance.run(x, { tokens: 3 }).slice();
  const shared = new Float32Array(new SharedArrayBuffer(x.byteLength));
  shared.set(x);
  for (const same of [Float64Array.from(x), Array.from(x), shared]) {
    assert.deepEqual(instance.run(same, { tokens: 3 }), y);
  }
  const padding = [1, 0, 1];
  const hidden = instance.run(x, { tokens: 3, padding }).slice();
  assert.notDeepEqual(hidden, y);
  for (const same of [[true, false, true], new Uint8Array(padding), BigInt64Array.from([1n, 0n, 256n]), [256, 0, -1]]) {
    assert.deepEqual(instance.run(x, { tokens: 3, padding: same }), hidden);
  }
  const whole = new Uint8Array(most).fill(1);
  whole[1] = 0;
  assert.deepEqual(instance.run(x, { tokens: 3, padding: whole }), hidden);
  const room = new Float32Array(most * model).fill(NaN);
  room.set(x);
  assert.deepEqual(instance.run(room, { tokens: 3 }), y, "all rows may be given");
});

test("no tokens", () => {
  const instance = ready();
  assert.equal(instance.run([], { tokens: 0 }).length, 0);
  const y = instance.run(randoms(random, 2 * model), { queries: 2, keys: 0 });
  for (let i = 0; i < 2; ++i) {
    assert.deepEqual(
      y.subarray(i * model, (i + 1) * model),
      weights.out_proj_bias,
      "nothing seen gives the output's bias",
    );
  }
});

test("x may be the last run's y, or a part of this y", () => {
  const instance = ready();
  const x = randoms(random, 6 * model);
  const first = instance.run(x, { tokens: 6 }).slice();
  const second = instance.run(first, { tokens: 6 }).slice();
  assert.deepEqual(instance.run(instance.run(x, { tokens: 6 }), { tokens: 6 }), second);
  const part = instance.run(first.subarray(model, 3 * model), { tokens: 2 }).slice();
  const y = instance.run(x, { tokens: 6 });
  assert.deepEqual(instance.run(y.subarray(model, 3 * model), { tokens: 2 }), part);
  // x is a view of the instance's memory. This run is the first with attention, so the memory grows and the view
  // becomes empty. The run must read x before the memory grows.
  const fresh = ready();
  const view = fresh.run(x, { tokens: 6 });
  assert.deepEqual(fresh.run(view, { tokens: 6, attention: true }), second);
  assert.equal(view.length, 0, "a view from before memory grew");
});

test("masks that the kernel lacks, and data for a mask that the instance lacks", async () => {
  const minilm = await load(shipped("minilm"), { variant: "scalar" });
  minilm.create({ mask: "none" });
  minilm.create({ mask: [] });
  await refuses(() => minilm.create({ mask: "causal" }), "mask", "expected none", "got causal");
  await refuses(() => minilm.create({ mask: ["padding"] }), "mask");
  for (const mask of [null, "", 7, ["none", "causal"], [["causal"]], {}, new Set(["causal"])]) {
    await refuses(() => kernel.create({ mask }), "mask");
  }
  await refuses(() => kernel.create({ mask: "window" }), "mask", "none,causal,padding", "got window");
  const x = randoms(random, 2 * model);
  for (const mask of ["none", "causal", []]) {
    await refuses(() => ready({ mask }).run(x, { tokens: 2, padding: [1, 0] }), "mask", "padding");
  }
  for (const mask of ["none", "padding"])
    await refuses(() => ready({ mask }).run(x, { tokens: 2, offset: 0 }), "mask", "causal");
  const all = ready({ mask: "none" }).run(x, { tokens: 2 }).slice();
  assert.deepEqual(ready().run(x, { tokens: 2 }), all, "left out, nothing is hidden that need not be");
  assert.deepEqual(ready().run(x, { tokens: 2, offset: 2 }), all);
  const causal = ready({ mask: "causal" }).run(x, { tokens: 2 }).slice();
  assert.notDeepEqual(causal, all);
  assert.deepEqual(ready({ mask: ["causal", "padding"] }).run(x, { tokens: 2 }), causal);
  assert.deepEqual(ready().run(x, { tokens: 2, offset: 0 }), causal);
});

test("attention", async () => {
  const instance = ready();
  await refuses(() => instance.attention(), "attention");
  instance.run(randoms(random, model), { tokens: 1, attention: true });
  assert.equal(instance.attention().length, heads * most * most);
  await refuses(() => instance.attention(1), "length", "layer", "from 0 to 0");
  instance.run(randoms(random, model), { tokens: 1 });
  await refuses(() => instance.attention(), "attention");
});

test("weights from arrays", async () => {
  const instance = kernel.create();
  const x = randoms(random, model);
  await refuses(() => instance.run(x, { tokens: 1 }), "weights", "no weights yet (weights.set, weights.load)");
  const { in_proj_weight: first, ...rest } = weights;
  await refuses(() => instance.weights.set(rest), "weights", "in_proj_weight");
  await refuses(() => instance.weights.set({}), "weights", "in_proj_weight,in_proj_bias");
  await refuses(() => instance.weights.set({ ...weights, other: x }), "weights", "no others", "other");
  await refuses(
    () => instance.weights.set({ ...weights, in_proj_weight: first.subarray(1) }),
    "shape",
    "in_proj_weight",
    `${first.length}`,
  );
  await refuses(
    () => instance.weights.set({ ...weights, in_proj_weight: Array.from(first) }),
    "weights",
    "a Float32Array",
    "got Array",
  );
  await refuses(
    () => instance.weights.set({ ...weights, in_proj_weight: new Float64Array(first) }),
    "weights",
    "a Float32Array",
    "got Float64Array",
  );
  await refuses(() => instance.weights.set(weights, { prefix: "layer.0" }), "weights");
  await refuses(
    () => instance.weights.set({ "self.query.weight": x, "self.key.weight": x, "self.value.weight": x }),
    "weights",
    "LAYOUT in_proj",
  );
  await refuses(() => instance.run(x, { tokens: 1 }), "weights", "no weights yet");

  instance.weights.set(weights);
  const y = instance.run(x, { tokens: 1 }).slice();
  await refuses(() => instance.weights.set({ ...weights, other: x }), "weights");
  assert.deepEqual(instance.run(x, { tokens: 1 }), y, "weights that were refused changed others");
  const dotted = Object.fromEntries(
    Object.entries(weights).map(([name, data]) => [`a.b.${name.replace("out_proj_", "out_proj.")}`, data]),
  );
  for (const prefix of ["a.b", "a.b."]) {
    instance.weights.set({ ...dotted, elsewhere: x }, { prefix });
    assert.deepEqual(instance.run(x, { tokens: 1 }), y);
  }
  assert.deepEqual(instance.weights.tensor("a.b.in_proj_bias"), weights.in_proj_bias);
  await refuses(() => instance.weights.tensor("in_proj_bias"), "weights", "a.b.in_proj_bias", "got in_proj_bias");
  // Sets weights from views of the instance's memory. The memory grows during the call and empties the views, so `set`
  // must copy the views first.
  const own = Object.fromEntries(
    Object.keys(weights).map((name) => [
      name,
      instance.weights.tensor(
        name.replace(/^(in|out)_proj_/, (all, side) => `a.b.${side}_proj${side === "out" ? "." : "_"}`),
      ),
    ]),
  );
  instance.weights.set(own);
  assert.deepEqual(instance.run(x, { tokens: 1 }), y);
});

test("a freed instance", async () => {
  const instance = ready();
  instance.free();
  instance.free();
  const x = randoms(random, model);
  await refuses(() => instance.run(x, { tokens: 1 }), "closed");
  await refuses(() => instance.attention(), "closed");
  await refuses(() => instance.weights.set(weights), "closed");
  await refuses(() => instance.weights.load(new Uint8Array(9)), "closed");
  await refuses(() => instance.weights.tensor("in_proj_bias"), "closed");
  await refuses(() => instance.clear(), "closed");
  if (Symbol.dispose) {
    const other = ready();
    other[Symbol.dispose]();
    await refuses(() => other.run(x, { tokens: 1 }), "closed");
  }
});

test("several instances of one kernel are independent", () => {
  const [a, b] = [ready(), kernel.create()];
  const other = weightsOf(kernel.description, random);
  b.weights.set(other);
  const x = randoms(random, 2 * model);
  const ya = a.run(x, { tokens: 2 });
  const copy = ya.slice();
  const yb = b.run(x, { tokens: 2 });
  assert.notDeepEqual(ya, yb);
  assert.deepEqual(ya, copy);
  a.free();
  assert.deepEqual(b.run(x, { tokens: 2 }), yb);
});

test("no more memory", async () => {
  const kernel = await load("attention_768_12", { variant: "scalar" });
  const instance = kernel.create();
  instance.weights.set(weightsOf(kernel.description, random));
  const grow = WebAssembly.Memory.prototype.grow;
  WebAssembly.Memory.prototype.grow = () => {
    throw new RangeError("WebAssembly.Memory.grow(): Maximum memory size exceeded");
  };
  try {
    const x = randoms(random, 768);
    const y = instance.run(x, { tokens: 1 }).slice();
    await refuses(() => instance.run(x, { tokens: 1, attention: true }), "memory", "exceeded");
    await refuses(() => kernel.create(), "memory");
    await refuses(() => kernel.warmUp({ attention: true }), "memory", "exceeded");
    assert.deepEqual(instance.run(x, { tokens: 1 }), y);
  } finally {
    WebAssembly.Memory.prototype.grow = grow;
  }
});

test("kernels that are not shipped", async () => {
  await refuses(() => load("attention"), "unknown-kernel", "attention_64_4", "got attention");
  await refuses(() => load("constructor"), "unknown-kernel", "attention_64_4", "got constructor");
  for (const [name, entry] of Object.entries({ minilm: "minilm", date_reader: "date-reader", keywords: "keywords" })) {
    for (const precision of ["float32", "int8"]) {
      const expected = `kernel of a model: expected loadKernel() of "ladon/${entry}", got ${name}`;
      await refuses(() => load(name, { precision }), "unknown-kernel", expected);
    }
    assert.equal((await (await import(`../dist/${entry}.js`)).loadKernel()).description.name, name);
  }
  const wanted = { kind: "attention", tokens: 100, model: 320, heads: 5 };
  await refuses(
    () => load(wanted),
    "unknown-kernel",
    "ladon_add_kernel(attention_320_5 QUERIES 100 MODEL 320 HEADS 5 MASK causal padding OFFSET run_time)",
    "emcmake cmake",
    "attention_256_8",
  );
  await refuses(
    () => load({ kind: "attention", tokens: 99999, model: 49950, heads: 1110 }),
    "unknown-kernel",
    "ladon_add_kernel(attention_49950_1110 QUERIES 99999 MODEL 49950 HEADS 1110 MASK causal padding OFFSET run_time)",
    "emcmake cmake -B build && cmake --build build",
    "got attention_49950_1110 of 99999 tokens",
  );
  await refuses(
    () => load({ ...wanted, tokens: 513, model: 384, heads: 12 }),
    "unknown-kernel",
    "512",
    "attention_384_12",
  );
  await refuses(() => load({ ...wanted, kind: "encoder" }), "unknown-kernel", "expected attention, got encoder");
  await refuses(() => load({ ...wanted, heads: 7 }), "option", "a multiple of heads, 7", "got 320");
  for (const one of ["tokens", "model", "heads"]) {
    for (const size of [undefined, null, NaN, 0, -5, 1.5, Infinity]) {
      await refuses(() => load({ kind: "attention", tokens: 4, model: 64, heads: 4, [one]: size }), "option", one);
    }
  }
  for (const tokens of ["4", 4n]) {
    await refuses(() => load({ kind: "attention", tokens, model: 64, heads: 4 }), "option", "tokens");
  }
  const bare = Object.assign(Object.create(null), { kind: "attention", tokens: 3, model: 64, heads: 4 });
  assert.equal((await load(bare)).description.name, "attention_64_4", "a request without a prototype");
  await refuses(() => load({ tokens: 8, model: 64, heads: 4 }), "unknown-kernel", "expected attention, got undefined");
  await refuses(() => load({ kind: "decoder" }), "unknown-kernel");
  await refuses(() => load(undefined), "unknown-kernel");
  await refuses(() => load(null), "unknown-kernel");
  await refuses(() => load(7), "unknown-kernel");
  for (const [source, text] of [
    [Promise.resolve(scalar), "a Promise (await it)"],
    [new Response(scalar), "a Response (give its URL, or its arrayBuffer())"],
    [new Blob([scalar]), "a Blob"],
    [() => 7, "bytes or a WebAssembly.Module"],
    [async () => "k.wasm", "a Promise (await it)"],
    [kernel, "bytes or a WebAssembly.Module"],
    [[1, 2], "bytes or a WebAssembly.Module"],
    [Symbol("a.b"), "bytes or a WebAssembly.Module"],
    [Object.create(null), "bytes or a WebAssembly.Module"],
  ]) {
    await refuses(() => load(source), "unknown-kernel", text);
  }
});

const scalar = moduleBytes("attention_64_4", "scalar");

test("bytes that are no module of Ladon", async () => {
  await refuses(() => load(new Uint8Array()), "not-a-module");
  await refuses(() => load(new TextEncoder().encode("<!doctype html>")), "not-a-module", "WebAssembly", '"<!doctyp"');
  await refuses(() => load(scalar.subarray(0, 1000)), "not-a-module");
  await refuses(() => load(empty), "not-a-module", "ladon_add_kernel");
  await refuses(() => load(new WebAssembly.Module(empty)), "not-a-module", "ladon_add_kernel");
  await refuses(() => load(withSection("{]")), "not-a-module");
  await refuses(() => load(withSection("null")), "not-a-module");
  await refuses(() => load(withSection('{"ladon": 6}')), "not-a-module", "queries", "mask", "precision");
  const section = new TextDecoder().decode(
    WebAssembly.Module.customSections(new WebAssembly.Module(scalar), "ladon")[0],
  );
  for (const name of ["queries", "model", "heads", "workspace", "mask", "precision", "weights", "arrays", "options", "functions"]) {
    const { [name]: lacking, ...rest } = JSON.parse(section);
    assert.notEqual(lacking, undefined);
    await refuses(() => load(withSection(JSON.stringify(rest))), "not-a-module", name);
  }
});

test("modules of other versions", async () => {
  const [section] = WebAssembly.Module.customSections(new WebAssembly.Module(scalar), "ladon");
  const description = JSON.parse(new TextDecoder().decode(section));
  assert.equal(description.ladon, 6);
  for (const ladon of [0, 1, 2, 3, 4, 5, 7, 4.5, "6", null]) {
    const bytes = withSection(JSON.stringify({ ...description, ladon }));
    for (const source of [bytes, new WebAssembly.Module(bytes)]) {
      await refuses(() => load(source), "version", `expected 6, got ${ladon}`);
    }
    await refuses(() => load(bytes, { variant: "scalar" }), "version", `got ${ladon}`);
  }
  // A description of version 1 has arrays where later versions have objects. Nevertheless, the error must be about the
  // version.
  const first = { ladon: 1, name: "old", weights: [["in_proj_weight", 192, 64]], options: ["tokens", "attention"] };
  await refuses(() => load(withSection(JSON.stringify(first))), "version", "expected 6, got 1");
  await refuses(() => load(withSection('{"ladon": 7, "name": "later"}')), "version", "expected 6, got 7");
  assert.equal((await load(withSection(JSON.stringify(description)))).description.name, "attention_64_4");
  const { ladon, ...none } = description;
  await refuses(() => load(withSection(JSON.stringify(none))), "not-a-module", "ladon");
});

test("descriptions with damaged fields", async () => {
  const { description } = kernel;
  const [tensor] = description.weights;
  const [option] = description.options;
  const [x, y] = description.arrays;
  for (const [name, value] of [
    ["queries", -1],
    ["model", 1.5],
    ["mask", [1]],
    ["weights", [["in_proj_weight", 192, 64]]],
    ["weights", [{ ...tensor, shape: 12288 }]],
    ["weights", [{ ...tensor, shape: [-1] }]],
    ["weights", [{ ...tensor, type: "float16" }]],
    ["weights", [{ ...tensor, type: "toString" }]],
    ["precision", "float16"],
    ["memory", "5"],
    ["memoryCache", -1],
    ["arrays", []],
    ["arrays", [{ name: "x", type: "float32", shape: [512, 64] }]],
    ["arrays", [{ name: "y", type: "float32", shape: [512, 64], output: true }]],
    ["arrays", [x, { ...y, shape: [64] }]],
    ["arrays", [x, { ...y, type: "size" }]],
    ["functions", ["run"]],
    ["functions", [{ name: "run" }]],
    ["functions", [{ name: "run", parameters: [1] }]],
    ["layer", [null]],
    ["options", ["tokens"]],
    ["options", [{ ...option, type: "sizes" }]],
    ["options", [{ ...option, shape: ["64"] }]],
    ["rotary", { positions: 5 }],
    ["unnormed", 0],
    ["unnormed", [-1]],
  ]) {
    const bytes = withSection(JSON.stringify({ ...description, [name]: value }));
    await refuses(() => load(bytes), "not-a-module", `fields ${name},`);
  }
});

test("a module from bytes, from a Module, from file: URLs", async () => {
  const url = new URL("../dist/modules/attention_64_4", import.meta.url);
  const wasm = new URL(`${url}.scalar.wasm`);
  const buffer = scalar.buffer.slice(scalar.byteOffset, scalar.byteOffset + scalar.length);
  const shared = new Uint8Array(new SharedArrayBuffer(scalar.length));
  shared.set(scalar);
  for (const source of [shared, shared.buffer, scalar, buffer, new WebAssembly.Module(scalar), wasm, `${wasm}`, wasm.pathname]) {
    const { variant, description, module } = await load(source);
    assert.equal(variant, "scalar");
    assert.equal(description.name, "attention_64_4");
    assert.ok(module instanceof WebAssembly.Module);
  }
  assert.equal((await load(url, { variant: "scalar" })).variant, "scalar");
  assert.equal((await load((variant) => `${url}.${variant}.wasm`, { variant: "scalar" })).variant, "scalar");
  assert.equal(
    (await load({ kind: "attention", tokens: 512, model: 64, heads: 4 })).description.name,
    "attention_64_4",
  );
  await refuses(() => load(new URL("file:///nowhere/a.wasm")), "network", "a.wasm");
  await refuses(() => load("./nowhere.wasm"), "network", "nowhere.wasm");
  await refuses(() => load("http://127.0.0.1:9/a.wasm"), "network", "a.wasm");
  await refuses(() => load("attention_384_12", { signal: AbortSignal.abort() }), "aborted");
});

test("a kernel that lacks a variant", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "ladon-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "k.scalar.wasm"), scalar);
  const at = pathToFileURL(join(folder, "k"));
  assert.equal((await load(at)).variant, "scalar");
  assert.equal((await load((variant) => `${at}.${variant}.wasm`)).variant, "scalar");
  await refuses(() => load(at, { variant: "simd" }), "network", "k.simd.wasm");
  await refuses(() => load(pathToFileURL(join(folder, "none"))), "network", /none[.](relaxed|simd)[.]wasm/);

  const { fetch: own } = globalThis;
  const serve = (missing) => {
    const asked = [];
    globalThis.fetch = async (url) => {
      asked.push(url.pathname);
      return url.pathname === "/k.scalar.wasm" ? new Response(scalar) : missing();
    };
    return asked;
  };
  try {
    for (const missing of [() => new Response("", { status: 404 }), () => new Response("<!doctype html>")]) {
      serve(missing);
      assert.equal((await load("https://a.example/k")).variant, "scalar");
    }
    // A network without connection does not say that the module is missing.
    const asked = serve(() => Promise.reject(new TypeError("no network")));
    await refuses(() => load("https://a.example/k"), "network", "no network");
    assert.equal(asked.length, 1);
  } finally {
    globalThis.fetch = own;
  }
});

test("the query of a URL stays after the name of a module", async () => {
  const { fetch: own } = globalThis;
  const asked = [];
  globalThis.fetch = (url) => (asked.push(`${url}`), Promise.reject(new TypeError("no network")));
  try {
    for (const url of ["https://a.example/k?v=3", "https://a.example/k", "https://a.example/k.wasm?v=3"]) {
      await refuses(() => load(url, { variant: "scalar" }), "network", "no network");
    }
  } finally {
    globalThis.fetch = own;
  }
  assert.deepEqual([...new Set(asked)], [
    "https://a.example/k.scalar.wasm?v=3",
    "https://a.example/k.scalar.wasm",
    "https://a.example/k.wasm?v=3",
  ]);
});

test("files of the package that cannot be loaded after a network failure", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "ladon-"));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(fileURLToPath(new URL("../dist/core.js", import.meta.url)), join(folder, "core.mjs"));
  const alone = await import(pathToFileURL(join(folder, "core.mjs")));
  const tells = (act, ...texts) =>
    assert.rejects(act, (error) => {
      assert.ok(error instanceof alone.LadonError, `${error.stack}`);
      assert.equal(error.code, "network", error.message);
      assert.ok(error.cause instanceof Error);
      for (const text of texts) assert.ok(error.message.includes(text), `"${error.message}" does not say "${text}"`);
      return true;
    });
  await tells(() => alone.load("http://127.0.0.1:9/k.wasm"), "http://127.0.0.1:9/k.wasm", "fetch failed");
  const kernel = await alone.load(scalar);
  await tells(() => kernel.warmUp(), "warm-up.js");
  const instance = kernel.create();
  await tells(() => instance.weights.load(new Uint8Array(9)), "safetensors.js");
  instance.weights.set(weights); // no longer busy
  assert.equal((await alone.load(moduleBytes("minilm", "scalar"))).description.layers, 6); // needs no missing file
  await assert.rejects(alone.load(scalar, { nobody: 1 }), { code: "option" }); // needs none of the missing files
});

test("variants", async () => {
  await refuses(() => load("attention_384_12", { variant: "avx" }), "unsupported", "scalar", "got avx");
  await refuses(() => load(scalar, { variant: "simd" }), "unsupported", "expected simd", "got scalar");
  // Imitates an engine without SIMD: `validate` and `compile` reject modules with SIMD.
  const { validate, compile } = WebAssembly;
  WebAssembly.validate = (bytes) => !/253/.test(`${Array.from(bytes.subarray(0, 40))}`) && validate(bytes);
  WebAssembly.compile = async (bytes) => {
    if (bytes.byteLength !== scalar.length) throw new WebAssembly.CompileError("invalid opcode 0xfd");
    return compile(bytes);
  };
  try {
    assert.equal((await load("attention_64_4")).variant, "scalar");
    await refuses(() => load("attention_64_4", { variant: "simd" }), "unsupported", "expected scalar", "got simd");
    await refuses(() => load(moduleBytes("attention_64_4", "simd")), "unsupported", "got simd");
  } finally {
    Object.assign(WebAssembly, { validate, compile });
  }
});

test("a host that compiles no WebAssembly at run time", async (t) => {
  const { compile, Module } = WebAssembly;
  t.after(() => Object.assign(WebAssembly, { compile, Module }));
  WebAssembly.compile = async () => {
    throw new WebAssembly.CompileError("code generation disallowed");
  };
  await refuses(() => load(scalar), "unsupported", "import the module", "code generation disallowed");
  await refuses(() => load("attention_64_4"), "unsupported", "import the module");
  await refuses(() => load(Uint8Array.of(1, 2, 3)), "not-a-module");
});

test("a host without fetch and Response, such as Node 16", async (t) => {
  const { fetch, Response } = globalThis;
  t.after(() => Object.assign(globalThis, { fetch, Response }));
  delete globalThis.fetch;
  delete globalThis.Response;
  await refuses(() => load("attention_64_4"), "unsupported", "fetch and Response (Node 18), got no fetch,Response");
  assert.equal((await load(scalar)).variant, "scalar", "bytes need neither");
  await refuses(() => DateReader.load({ kernel, weights: new Uint8Array(8) }), "unsupported", "fetch and Response");
});

test("a function that fails to make a URL", async () => {
  const failing = () => new URL("./k.wasm", undefined);
  await refuses(() => load(failing), "unsupported", "gives files no address");
});

test("no WebAssembly", async () => {
  const { WebAssembly: engine } = globalThis;
  globalThis.WebAssembly = undefined;
  try {
    await refuses(() => load("attention_64_4"), "unsupported");
  } finally {
    globalThis.WebAssembly = engine;
  }
});

test("a description is read only", () => {
  const { description } = kernel;
  assert.throws(() => (description.queries = 4096), TypeError);
  assert.throws(() => description.options.push("context"), TypeError);
  assert.throws(() => (description.weights[0].shape[0] = 1), TypeError);
  assert.throws(() => (description.options[0].name = "keys"), TypeError);
});

test("warming up with invalid lengths", async () => {
  for (const tokens of [-1, 0, 1.5, NaN, "2", most + 1])
    await refuses(() => kernel.warmUp({ tokens }), "length", "tokens");
  for (const time of [NaN, -1, "long"]) await refuses(() => kernel.warmUp({ most: time }), "option", "most");
});

test("warming up needs no weights and changes no instance", async () => {
  const instance = ready();
  const y = instance.run(randoms(random, model), { tokens: 1 });
  const copy = y.slice();
  const { calls, first, best, total } = await kernel.warmUp({ tokens: 2, most: 100 });
  assert.ok(calls > 1 && best > 0 && first <= total);
  await kernel.warmUp({ tokens: 2, most: 20, attention: true });
  assert.deepEqual(y, copy);
});
