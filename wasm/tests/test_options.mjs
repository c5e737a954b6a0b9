// Tests features that no shipped kernel has: a context, masks with a byte or number for each pair of query and key,
// caches, rotary embedding, sinks, a matrix for each head. tests/kernels/CMakeLists.txt makes modules with these
// features.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "../dist/index.js";
import { bert, llama } from "./checkpoint_names.mjs";
import { moduleBytes, randomOf, randoms, rowsOf, weightsOf } from "./kernels.mjs";
import { withSection } from "./module_file.mjs";
import { attention, givenAttention, linear } from "./oracle.mjs";
import { refuses } from "./refuses.mjs";
import { safetensors, streamOf } from "./safetensors.mjs";

const folder = new URL("kernels/modules/", import.meta.url);
const skip = existsSync(new URL("odd_cache.scalar.wasm", folder)) ? false : "tests/kernels is not built";
const random = randomOf(5);

const agree = (actual, wanted) => {
  const rows = wanted.flat();
  assert.equal(actual.length, rows.length);
  rows.forEach((value, i) => assert.ok(Math.abs(actual[i] - value) < 1e-5, `[${i}] is ${actual[i]}, not ${value}`));
};
const prepared = async (name) => {
  const kernel = await load(new URL(name, folder), { variant: "scalar" });
  const instance = kernel.create();
  const weights = weightsOf(kernel.description, random);
  return { kernel, instance, weights };
};
const pairs = (weights, model) => {
  const one = (part) => [weights[`${part}_weight`], weights[`${part}_bias`]];
  const out = one("out_proj");
  if (!weights.in_proj_weight) return { q: one("query_proj"), k: one("key_proj"), v: one("value_proj"), out };
  const [q, k, v] = [0, 1, 2].map((i) => [
    weights.in_proj_weight.subarray(i * model * model, (i + 1) * model * model),
    weights.in_proj_bias.subarray(i * model, (i + 1) * model),
  ]);
  return { q, k, v, out };
};

test("a number is written to the options as the 32 bits of a float", async () => {
  const module = moduleBytes("attention_64_4", "scalar");
  const [section] = WebAssembly.Module.customSections(new WebAssembly.Module(module), "ladon");
  const description = JSON.parse(new TextDecoder().decode(section));
  const weights = weightsOf(description, random);
  const x = randoms(random, 5 * 64);
  const run = async (options, given) => {
    const changed = withSection(JSON.stringify({ ...description, options }), module);
    const instance = (await load(changed)).create();
    instance.weights.set(weights);
    return instance.run(x, { tokens: 5, ...given });
  };
  const asNumber = description.options.map((one) => (one.name === "offset" ? { name: "bits", type: "number" } : one));
  const [bits] = new Float32Array(Uint32Array.of(2).buffer);
  assert.deepEqual(await run(asNumber, { bits }), await run(description.options, { offset: 2 }));
  await refuses(() => run(asNumber, { bits: "2" }), "option", "bits", "a number");
});

test("a call has the result of a new instance, whatever the calls before were", async () => {
  const kernel = await load(moduleBytes("attention_64_4", "scalar"));
  const weights = [0, 1].map(() => weightsOf(kernel.description, random));
  const instance = kernel.create();
  const padding = Uint8Array.of(1, 1, 0, 1, 1);
  const tokens = 5;
  const calls = [
    { options: { tokens } },
    { options: { tokens, offset: undefined } },
    { options: { tokens, padding } },
    { options: { tokens } },
    { options: { tokens, offset: 0 } },
    { options: { tokens, offset: 1 } },
    { options: { queries: 2, keys: 5 } },
    { options: { tokens, attention: true } },
    { options: { tokens }, set: 1 },
    { options: { tokens } },
    { options: undefined, rows: 512 },
    { options: {}, rows: 512 },
    { options: { tokens } },
  ];
  instance.weights.set(weights[0]);
  let set = 0;
  for (const [i, { options, rows = tokens, ...other }] of calls.entries()) {
    if (other.set) instance.weights.set(weights[(set = other.set)]);
    const x = randoms(random, rows * 64);
    const fresh = kernel.create();
    fresh.weights.set(weights[set]);
    assert.deepEqual(instance.run(x, options), fresh.run(x, options), `call ${i}`);
    assert.throws(() => instance.run(x.subarray(64), options), { code: "length" });
    assert.throws(() => instance.run(x, { ...options, offset: NaN }), { code: "length" });
    assert.deepEqual(instance.run(x, options), fresh.run(x, options), `call ${i} again`);
    if (!options?.attention) assert.throws(() => instance.attention(), { code: "attention" });
    fresh.free();
  }
});

// So a call of a small kernel stays fast: bench/tuning-log.md, "JavaScript around a call".
test("a call with the options of the call before reads them only to compare", async () => {
  const kernel = await load(moduleBytes("attention_64_4", "scalar"));
  const instance = kernel.create();
  instance.weights.set(weightsOf(kernel.description, random));
  let reads = 0;
  const options = new Proxy({ tokens: 5, offset: 9 }, { get: (of, name) => (++reads, of[name]) });
  const x = randoms(random, 5 * 64);
  const readsOfCall = () => {
    reads = 0;
    instance.run(x, options);
    return reads;
  };
  const first = readsOfCall();
  assert.ok(first > 10, `the first call: ${first}`);
  assert.equal(readsOfCall(), 6); // two options: their names are checked, and each is compared in both directions
  instance.weights.set(weightsOf(kernel.description, random));
  assert.equal(readsOfCall(), first, "with new weights");
});

test("a context, and masks of pairs", { skip }, async () => {
  const { instance, weights } = await prepared("odd_context");
  instance.weights.set(weights);
  const [queries, keys] = [7, 10];
  const [x, context] = [randoms(random, queries * 16), randoms(random, keys * 12)];
  const boolean = Uint8Array.from({ length: 2 * queries * keys }, (_, i) => +(i % 3 !== 0));
  const additive = randoms(random, queries * keys);
  additive[3] = -Infinity;
  const wanted = (maySee) => attention(rowsOf(x, 16), rowsOf(context, 12), pairs(weights, 16), 2, maySee).y;
  const given = { queries, keys, context };
  const byBoolean = (i, j, h) => boolean[(h * queries + i) * keys + j] > 0;
  const byAdditive = (i, j) => additive[i * keys + j];
  agree(
    instance.run(x, given),
    wanted(() => true),
  );
  agree(instance.run(x, { ...given, boolean }), wanted(byBoolean));
  agree(instance.run(x, { ...given, boolean: Array.from(boolean, Boolean) }), wanted(byBoolean));
  agree(instance.run(x, { ...given, additive }), wanted(byAdditive));
  agree(
    instance.run(x, { ...given, boolean, additive }),
    wanted((i, j, h) => byBoolean(i, j, h) && byAdditive(i, j)),
  );
  agree(
    instance.run(x, given),
    wanted(() => true),
  ); // the masks of the earlier run are not used
  const all = new Float32Array(9 * 11).fill(-Infinity);
  for (let i = 0; i < queries; ++i) all.set(additive.subarray(i * keys, (i + 1) * keys), i * 11);
  agree(instance.run(x, { ...given, additive: all }), wanted(byAdditive));
  for (const options of [
    { queries, keys },
    { ...given, context: x },
    { ...given, boolean: [1] },
    { ...given, additive: x },
  ]) {
    assert.throws(() => instance.run(x, options), { code: "length" });
  }
  for (const other of [{ tokens: 3 }, { boolean_keys: 3 }, { additive_keys: 3 }]) {
    assert.throws(() => instance.run(x, { ...given, ...other }), { code: "option", message: /context/ });
  }
  assert.throws(() => instance.run(x, { ...given, additive: new Array(queries * keys).fill(1n) }), { code: "option" });
});

test("a growing cache", { skip }, async () => {
  const { kernel, instance, weights } = await prepared("odd_cache");
  instance.weights.set(weights);
  const x = randoms(random, 12 * 16);
  const y = attention(rowsOf(x, 16), rowsOf(x, 16), pairs(weights, 16), 2, (i, j) => j <= i).y;
  for (let round = 0; round < 2; ++round) {
    assert.equal(instance.cached, 0);
    for (const [first, tokens] of [
      [0, 5],
      [5, 1],
      [6, 4],
    ]) {
      agree(instance.run(x.subarray(first * 16, (first + tokens) * 16), { tokens }), y.slice(first, first + tokens));
      assert.equal(instance.cached, first + tokens);
    }
    assert.throws(() => instance.run(x.subarray(0, 48), { tokens: 3 }), { code: "status", actual: 11, message: /no room/ });
    assert.equal(instance.cached, 10);
    instance.clear();
  }
  instance.run(x.subarray(0, 16), { tokens: 1 });
  instance.weights.set(weights);
  assert.equal(instance.cached, 0, "new weights forget what others made");
  assert.ok((await kernel.warmUp({ most: 50 })).calls > 0);
});

test("a call that fails leaves cache, weights, attention and results as they were", { skip }, async () => {
  const { kernel, instance, weights } = await prepared("odd_cache");
  const twin = kernel.create(); // gets only the calls that succeed
  for (const one of [instance, twin]) one.weights.set(weights);
  const x = randoms(random, 12 * 16);
  const step = (first, tokens) => {
    const run = (one) => one.run(x.subarray(first * 16, (first + tokens) * 16), { tokens, attention: true }).slice();
    assert.deepEqual(run(instance), run(twin));
  };
  const names = Object.keys(weights);
  const state = () => [
    instance.cached,
    instance.attention().slice(),
    ...names.map((name) => instance.weights.tensor(name).slice()),
  ];
  const entries = kernel.description.weights.map(({ name, shape }) => [name, shape, weights[name].map((one) => -one)]);
  const file = safetensors(entries);
  const [first] = names;
  const failing = [
    () => instance.run(x, { tokens: 6 }),
    () => instance.run(x.subarray(1, 48), { tokens: 3 }),
    () => instance.run(x.subarray(0, 48), { tokens: 3, padding: x }),
    () => instance.run(Array.from({ length: 48 }, () => Symbol("1")), { tokens: 3 }),
    () => instance.weights.set({}),
    () => instance.weights.set({ ...weights, [first]: weights[first].slice(1) }),
    () => instance.weights.set({ ...weights, [first]: [...weights[first]] }),
    () => instance.weights.set({ ...weights, other: x }),
    () => instance.weights.set(weights, { prefix: "layers" }),
    () => instance.weights.load(new Uint8Array(9)),
    () => instance.weights.load(file.subarray(0, -1)),
    () => instance.weights.load(Uint8Array.from([...file, 0])),
    () => instance.weights.load(safetensors(entries.slice(1))),
    () => instance.weights.load(streamOf(file, 100, (at) => at > 1000 && Promise.reject(new Error("cut")))),
    () => instance.weights.load(file, { signal: AbortSignal.abort() }),
    () => instance.weights.tensor("none"),
    () => instance.attention(1),
    () => kernel.create({ mask: "padding" }),
    async () => {
      const loading = instance.weights.load(streamOf(file, 100, () => Promise.reject(new Error("cut"))));
      for (const call of [() => instance.clear(), () => instance.run(x.subarray(0, 16), { tokens: 1 })]) {
        assert.throws(call, { code: "busy" });
      }
      await loading;
    },
  ];
  for (const [at, tokens] of [
    [0, 5],
    [5, 5],
  ]) {
    step(at, tokens);
    const before = state();
    for (const call of failing) {
      await assert.rejects(async () => call(), `${call}`);
      assert.deepEqual(state(), before, `${call}`);
    }
  }
  const before = state();
  assert.throws(() => instance.run(x.subarray(0, 48), { tokens: 3 }), { code: "status", actual: 11 });
  assert.deepEqual(state(), before);
  step(10, 2);
});

test("a context that is projected once", { skip }, async () => {
  const { kernel, instance, weights } = await prepared("odd_projected");
  instance.weights.set(weights);
  const [x, context] = [randoms(random, 3 * 16), randoms(random, 6 * 16)];
  const { y } = attention(rowsOf(x, 16), rowsOf(context, 16), pairs(weights, 16), 2, () => true);
  assert.throws(() => instance.run(x, { queries: 3 }), { code: "length" }, "nothing is held yet");
  agree(instance.run(x, { queries: 3, keys: 6, context }), y);
  assert.equal(instance.cached, 6);
  agree(instance.run(x, { queries: 3 }), y);
  agree(instance.run(x.subarray(0, 16), { queries: 1 }), y.slice(0, 1));
  assert.ok((await kernel.warmUp({ most: 50 })).calls > 0);
});

// project_keys accepts these positions, and attend rejects them: the queries begin two positions behind the keys.
test("two contexts, of keys and of values", { skip }, async () => {
  const { instance, weights } = await prepared("odd_two_contexts");
  instance.weights.set(weights);
  const [keys, x] = [6, randoms(random, 5 * 16)];
  const [key_context, value_context] = [randoms(random, keys * 12), randoms(random, keys * 20)];
  const project = (part, context, width) => linear(weights[`${part}_weight`], weights[`${part}_bias`], rowsOf(context, width));
  const [q, k, v] = [project("query_proj", x, 16), project("key_proj", key_context, 12), project("value_proj", value_context, 20)];
  const heads = (rows) => [0, 1].map((h) => rows.map((row) => row.slice(8 * h, 8 * h + 8)));
  const [first, second] = givenAttention(heads(q), heads(k), heads(v), () => true);
  const joined = first.map((row, i) => [...row, ...second[i]]);
  const wanted = linear(weights.out_proj_weight, weights.out_proj_bias, joined);
  agree(instance.run(x, { keys, key_context, value_context }), wanted);
  assert.equal(instance.cached, keys);
  agree(instance.run(x), wanted);
  for (const one of [{ key_context }, { value_context }]) {
    assert.throws(() => instance.run(x, { keys, ...one }), { code: "length", message: /context/ });
  }
  assert.throws(() => instance.run(x, { context: x }), { code: "option", message: /key_context/ });
  agree(instance.run(x), wanted);
});

test("a run with a rejected position leaves the projected context as it was", { skip }, async () => {
  const { instance, weights } = await prepared("odd_projected_rotary");
  instance.weights.set(weights);
  const x = randoms(random, 5 * 16);
  const [first, second] = [randoms(random, 7 * 16), randoms(random, 3 * 16)];
  const rejected = { context: second, keys: 3, rotary: { offset: 4 } };
  const status = { code: "status", actual: 7 };
  assert.throws(() => instance.run(x, rejected), status);
  assert.equal(instance.cached, 0, "there was no context");
  instance.run(x, { context: first });
  const before = instance.run(x).slice();
  assert.throws(() => instance.run(x, rejected), status);
  assert.equal(instance.cached, 7);
  assert.deepEqual(instance.run(x).slice(), before);
});

test("rotary embedding, sinks, a mask of bits, ALiBi slopes, a matrix for each head", { skip }, async () => {
  const { kernel, instance, weights } = await prepared("odd_rotary");
  const { description } = kernel;
  // `own` has the weights in the kernel's layout: a matrix (in, out) for each head. `turned` has the same weights in
  // the layout of the oracle: one matrix (out, in) for all heads.
  const own = {};
  const turned = {};
  for (const { name, shape, count: heads = 1 } of description.weights) {
    const [rows, columns = 1] = shape;
    own[name] = randoms(random, heads * rows * columns, 0.3);
    turned[name] = own[name].slice();
    if (columns === 1) continue;
    for (let h = 0; h < heads; ++h) {
      for (let r = 0; r < rows; ++r) {
        for (let c = 0; c < columns; ++c)
          turned[name][(h * columns + c) * rows + r] = own[name][(h * rows + r) * columns + c];
      }
    }
  }
  instance.weights.set(own);
  assert.throws(() => instance.weights.set({ ...own, "out_proj.bias": own.out_proj_bias }), { code: "weights" });
  const [n, x] = [20, randoms(random, 20 * 16)];
  const still = { tokens: n, slopes: [0, 0], sinks: [-Infinity, -Infinity], rotary: { scaling: 1e9 } };
  const wanted = (maySee) => attention(rowsOf(x, 16), rowsOf(x, 16), pairs(turned, 16), 2, maySee).y;
  agree(
    instance.run(x, still),
    wanted(() => true),
  );
  agree(
    instance.run(x, { ...still, slopes: [0.5, 0.25] }),
    wanted((i, j, h) => (j - i) * [0.5, 0.25][h]),
  );
  const bits = Uint32Array.from({ length: n * 2 }, () => (random() + 1) * 2 ** 31);
  agree(
    instance.run(x, { ...still, bits }),
    wanted((i, j) => ((bits[2 * i] >>> j) & 1) > 0),
  );
  const plain = instance.run(x, { ...still, rotary: {} }).slice();
  assert.ok(
    plain.some((value, i) => Math.abs(value - instance.run(x, still)[i]) > 1e-3),
    "turned",
  );
  // A rotary offset shifts the positions of queries and keys by the same number. Scores depend only on differences of
  // positions, so the result must stay the same.
  agree(instance.run(x, { ...still, rotary: { offset: 7 } }), Array.from(plain));
  const sunk = instance.run(x, { ...still, sinks: [9, 9] }).slice();
  assert.ok(
    sunk.some((value, i) => Math.abs(value - plain[i]) > 1e-3),
    "sinks take their share",
  );
  assert.throws(() => instance.run(x, { ...still, sinks: undefined }), { code: "option", message: /sinks/ });
  assert.throws(() => instance.run(x, { ...still, rotary: { base: 0 } }), { code: "status", message: /base/ });
  assert.throws(() => instance.run(x, { ...still, rotary: { bass: 1 } }), { code: "option", message: /bass/ });
  assert.throws(() => instance.run(x, { ...still, rotary: null, rotary_offset: 1 }), {
    code: "option",
    message: "option: expected tokens,queries,keys,offset,bits,slopes,sinks,rotary,attention, got rotary_offset",
  });
  assert.throws(() => instance.run(x, { ...still, rotary: { offset: 1.5 } }), { code: "length" });
  assert.throws(() => instance.run(x, { ...still, rotary: { offset: 60 } }), { code: "status" }, "positions end");
  assert.throws(() => kernel.create({ mask: "none" }), { code: "mask" });
  assert.ok((await kernel.warmUp({ most: 50 })).calls > 0);
});

test("options and masks whose names the binding does not know", async () => {
  const kernel = await load("attention_64_4", { variant: "scalar" });
  const known = kernel.create({ mask: ["causal", "padding"] });
  const weights = weightsOf(kernel.description, random);
  known.weights.set(weights);
  const x = randoms(random, 4 * 64);

  const renamed = (name) => ({ offset: "shift", padding: "visible" })[name] ?? name;
  const options = kernel.description.options.map((option) => ({ ...option, name: renamed(option.name) }));
  const description = { ...kernel.description, options, mask: kernel.description.mask.map(renamed) };
  const other = (await load(withSection(JSON.stringify(description), moduleBytes("attention_64_4", "scalar")))).create();
  other.weights.set(weights);
  for (const [offset, padding] of [
    [0, [1, 1, 1, 1]],
    [-1, [1, 0, 1, 1]],
    [2, [0, 1, 1, 0]],
  ]) {
    const y = known.run(x, { tokens: 4, offset, padding }).slice();
    assert.deepEqual(other.run(x, { tokens: 4, shift: offset, visible: padding }), y);
  }
  assert.notDeepEqual(other.run(x, { tokens: 4, shift: 0 }).slice(), other.run(x, { tokens: 4, shift: 2 }));
  for (const shift of [0.5, "1", 2 ** 31]) {
    assert.throws(() => other.run(x, { tokens: 4, shift }), { code: "length", message: /shift/ });
  }
  assert.throws(() => other.run(x, { tokens: 4, visible: [1, 1, 1] }), { code: "length", message: /visible/ });
  assert.throws(() => other.run(x, { tokens: 4, offset: 0 }), { code: "option" });
});

test("names of one layer, and of its attention alone", { skip }, async () => {
  const { instance, weights } = await prepared("odd_layer");
  const x = randoms(random, 4 * 16);
  const run = () => instance.run(x, { tokens: 4 }).slice();
  instance.weights.set(weights);
  const y = run();
  const named = (rename, entries = weights) =>
    Object.fromEntries(Object.entries(entries).map(([name, data]) => [rename(name), data]));
  for (const [rename, prefix] of [
    [bert, "encoder.layer.0"],
    [llama, "model.layers.0."],
    [(name) => name, "own"],
  ]) {
    instance.weights.set(named((name) => name, weightsOf(instance.description, random)));
    assert.notDeepEqual(run(), y);
    const inPlace = (name) => `${prefix}${prefix.endsWith(".") ? "" : "."}${rename(name)}`;
    instance.weights.set(named(inPlace), { prefix });
    assert.deepEqual(run(), y, prefix);
  }
  // BERT calls the output projection of attention "attention.output.dense", and the second linear map of the
  // feed-forward network "output.dense". `swapped` gives the output projection the wrong one of these names, so the
  // kernel must report it as missing.
  const swapped = named((name) => bert(name).replace("attention.output.dense", "output.dense"));
  assert.throws(() => instance.weights.set(swapped), { code: "weights", message: /attention.out_proj_weight/ });

  const attention = (await prepared("odd_context")).instance;
  const own = weightsOf(attention.description, random);
  const [queries, context] = [randoms(random, 3 * 16), randoms(random, 5 * 12)];
  const attend = () => attention.run(queries, { queries: 3, keys: 5, context }).slice();
  attention.weights.set(own);
  const attended = attend();
  for (const rename of [bert, llama]) {
    const below = (name) => rename(`attention.${name}`).replace(/^\w+\./, "");
    attention.weights.set(named(below, own));
    assert.deepEqual(attend(), attended);
  }
});
