// Tests that hostile modules, weights and options give a LadonError with a short message, in bounded time.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { DateReader } from "../dist/date-reader.js";
import { load } from "../dist/index.js";
import { SentenceEncoder, WordPiece } from "../dist/minilm.js";
import { moduleBytes, randomOf, weightsOf } from "./kernels.mjs";
import { emptyModule, trappingModule, withSection } from "./module_file.mjs";
import { refuses } from "./refuses.mjs";
import { fileOf, headerOf, safetensors } from "./safetensors.mjs";

const random = randomOf(7);
const scalar = moduleBytes("attention_64_4", "scalar");
const kernel = await load(scalar);
const { description } = kernel;
const { model } = description;
const weights = weightsOf(description, random);
const ready = () => {
  const instance = kernel.create();
  instance.weights.set(weights);
  return instance;
};
const nested = (depth) => "[".repeat(depth) + "]".repeat(depth);

test("nested headers of weights", async () => {
  for (const depth of [10, 1e3, 1e5]) {
    const instance = ready();
    const deep = nested(depth);
    for (const header of [
      `{"in_proj_bias": ${deep}}`,
      `{"in_proj_bias": {"dtype": "F32", "shape": ${deep}, "data_offsets": [0, 4]}}`,
      `{"in_proj_bias": {"dtype": ${deep}, "shape": [1], "data_offsets": [0, 4]}}`,
      `{"in_proj_bias": {"dtype": "F32", "shape": [1], "data_offsets": [0, ${deep}]}}`,
    ]) {
      await refuses(() => instance.weights.load(fileOf(header)), "weights", "in_proj_bias");
    }
    await refuses(() => instance.weights.load(fileOf(deep)), "weights", depth > 1e3 ? "" : "expected");
  }
});

test("nested descriptions of modules", async () => {
  const text = JSON.stringify(description);
  for (const depth of [10, 1e3, 1e5]) {
    for (const name of ["mask", "weights", "layout", "options", "rotary", "queries", "layers"]) {
      const change = JSON.stringify({ ...description, [name]: "HERE" }).replace('"HERE"', nested(depth));
      await refuses(() => load(withSection(change, scalar)), "not-a-module");
    }
    await refuses(() => load(withSection(nested(depth), scalar)), "not-a-module");
  }
  assert.equal((await load(withSection(text, scalar))).description.name, "attention_64_4");
});

test("descriptions with billions of elements", async () => {
  const [tensor] = description.weights;
  const option = description.options.find(({ name }) => name === "attention");
  for (const [name, value] of [
    ["layers", 2 ** 40],
    ["layers", "12"],
    ["layers", -1],
    ["layer", null],
    ["weights", [{ ...tensor, count: 2 ** 33 }]],
    ["weights", [{ ...tensor, count: 0.5 }]],
    ["weights", Array.from({ length: 2e5 }, () => tensor)],
    ["options", [{ ...option, count: 2 ** 33 }]],
    ["options", [{ ...option, count: "x" }]],
    // These descriptions break two rules. An option of the types "size", "offset" and "rotary_table" is no array, so it
    // must not have a shape, but has one. The type "isa" does not exist.
    ...["size", "offset", "rotary_table", "isa"].map((type) => ["options", [{ name: "padding", type, shape: [] }]]),
  ]) {
    const text = JSON.stringify({ ...description, [name]: value });
    await refuses(() => load(withSection(text, scalar)), "not-a-module", name);
  }
  const both = { ...description, layers: 2 ** 15, layer: [{ ...tensor, count: 2 ** 15 }] };
  await refuses(() => load(withSection(JSON.stringify(both), scalar)), "not-a-module", "layer");
  const [x, y] = description.arrays;
  const arrays = [{ ...x, shape: [2 ** 53 - 1, 2 ** 53 - 1] }, y];
  for (const change of [{ workspace: 2 ** 52 }, { memoryCache: 2 ** 40 }, { arrays }]) {
    const large = await load(withSection(JSON.stringify({ ...description, ...change }), scalar));
    await refuses(() => large.create(), "memory");
  }
});

test("a description that lacks the tensor of a projection", async () => {
  const [tensor] = description.weights;
  const query = { ...tensor, name: "query_proj_weight", shape: [64, 64] };
  const alone = { ...description, layout: "separate_qkv", weights: [query] };
  const instance = (await load(withSection(JSON.stringify(alone), scalar))).create();
  await refuses(() => instance.weights.set({ in_proj_weight: weights.in_proj_weight }), "weights", "query_proj_weight");
});

test("modules without the exports of a kernel, or with other exports", async () => {
  const memory = ["memory", "memory"];
  const heap = ["__heap_base", "global"];
  for (const content of [
    {},
    { exports: [memory] },
    { exports: [heap] },
    { exports: [["memory", "global"], heap] },
    { exports: [memory, ["__heap_base", "function"]] },
    { exports: [memory, heap], global: "i64" },
    { exports: [memory, heap], global: "nan" },
    { exports: [memory, heap], imports: true },
  ]) {
    const odd = await load(withSection(JSON.stringify(description), trappingModule(content)));
    await refuses(() => odd.create(), "not-a-module");
    await refuses(() => odd.warmUp(), "not-a-module");
  }
});

test("functions of a module that are missing, or that trap", async () => {
  const exports = [
    ["memory", "memory"],
    ["__heap_base", "global"],
  ];
  const rotary = { positions: 4, width: 2 };
  const x = new Float32Array(model);
  for (const [name, change] of [
    ["none", {}],
    ["run", {}],
    ["run", { rotary }],
    ["rotary_fill", { rotary }],
    ["cache_clear", { cache: 64 }],
    ["cache_length", { cache: 64 }],
  ]) {
    const content = JSON.stringify({ ...description, ...change });
    const odd = await load(withSection(content, trappingModule({ exports: [...exports, [name, "function"]] })));
    const context = change.context && new Float32Array(model);
    const run = () => {
      const instance = odd.create();
      instance.weights.set(weights);
      instance.run(x, { queries: 1, keys: 1, context });
    };
    await refuses(run, "not-a-module");
    await refuses(() => odd.warmUp({ tokens: 1 }), "not-a-module");
  }
});

test("falsy and false options", async () => {
  const file = safetensors(description.weights.map(({ name, shape }) => [name, shape, weights[name]]));
  const instance = ready();
  for (const progress of [0, "", false, NaN, 0n]) {
    await refuses(() => instance.weights.load(file, { progress }), "option", "progress", "a function");
  }
  for (const signal of [0, "", false, NaN, 0n, { aborted: false }, []]) {
    await refuses(() => instance.weights.load(file, { signal }), "option", "AbortSignal");
    await refuses(() => load("attention_64_4", { signal }), "option", "AbortSignal");
    await refuses(() => DateReader.load({ signal }), "option", "AbortSignal");
  }
  await instance.weights.load(file, { progress: null, signal: null });
  await instance.weights.load(file, { progress: undefined, signal: undefined, prefix: undefined });
  for (const prefix of [Symbol("a"), Object.create(null)]) {
    await refuses(() => instance.weights.load(file, { prefix }), "option", "prefix");
    await refuses(() => instance.weights.set(weights, { prefix }), "option", "prefix");
  }
  for (const most of [Symbol("a"), Object.create(null), 5n]) {
    await refuses(() => kernel.warmUp({ most }), "option", "most");
  }
  for (const options of [null, 7, "x"]) {
    await refuses(() => DateReader.load(options), "option", "variant,signal");
    await refuses(() => SentenceEncoder.load(options), "option", "vocabulary");
  }
});

test("values without a string form, as reasons, texts and sources", async () => {
  const transferred = new Float32Array(4);
  structuredClone(transferred, { transfer: [transferred.buffer] });
  const vocabulary = new Blob(["[UNK]\n[CLS]\n[SEP]\n"]);
  const reader = await DateReader.load();
  for (const value of [Symbol("a"), Object.create(null), JSON.parse(nested(1e5)), transferred]) {
    const signal = AbortSignal.abort(value);
    await refuses(() => load("attention_384_12", { signal }), "aborted");
    await refuses(() => ready().weights.load(new Uint8Array(9), { signal }), "aborted");
    const failing = new ReadableStream({ start: (to) => to.error(value) });
    await refuses(() => ready().weights.load(failing), "network");
    await refuses(() => reader.read(value), "option", "text");
    await refuses(() => reader.read("5 may 2001").attention(value, 0), "attention");
    await refuses(() => new WordPiece(value), "option", "vocabulary");
    await refuses(() => new WordPiece("[UNK]\n[CLS]\n[SEP]\n").encode(value, 8), "option", "text");
    await refuses(() => new WordPiece("[UNK]\n[CLS]\n[SEP]\n").encode("a", value), "length", "maxTokens");
    await refuses(() => DateReader.load({ kernel: value }), "option", "kernel");
    await refuses(() => SentenceEncoder.load({ kernel: value, weights: vocabulary, vocabulary }), "option", "kernel");
  }
  await refuses(() => DateReader.load({ weights: transferred }), "network");
  const shared = new Uint8Array(new SharedArrayBuffer(dateFile.length));
  shared.set(dateFile);
  assert.equal((await DateReader.load({ weights: shared })).read("5 may 2001").date, "2001-05-05");
});

test("a detached array as a module", async () => {
  const bytes = Uint8Array.from(scalar);
  structuredClone(bytes, { transfer: [bytes.buffer] });
  await refuses(() => load(bytes), "not-a-module");
  await refuses(() => load(bytes.buffer), "not-a-module");
  for (const byteLength of [Symbol("a"), 5]) {
    await refuses(() => load({ byteLength, buffer: 2 ** 60 }), "unknown-kernel");
  }
});

test("bytes and texts that are no module take time in proportion to their length", async () => {
  const length = 900_000;
  const bytes = (...pattern) =>
    Uint8Array.from({ length }, (_, i) => emptyModule[i] ?? pattern[(i - emptyModule.length) % pattern.length]);
  const sources = [
    bytes(0, 5, 255, 255, 255, 255, 127), // custom sections whose names end far beyond the file
    bytes(0, 5, 255, 255, 255, 255, 255),
    bytes(0, 3, 5, 108, 97),
    bytes(128),
    bytes(0),
    new TextEncoder().encode("<!doctype html>".repeat(length / 15)),
    ...["a.", "/", ".wasm", "?.wasm", "\n.wasm", "a../"].map((part) => part.repeat(length / part.length)),
    `${"a".repeat(length)}:`,
    `data:${",".repeat(length)}`,
    `blob:${"x".repeat(length)}`,
    `http://127.0.0.1:9/${"a/../".repeat(length / 5)}`,
  ];
  for (const [i, source] of sources.entries()) {
    const start = performance.now();
    await assert.rejects(load(source), { name: "LadonError" });
    const time = performance.now() - start;
    assert.ok(time < 2000, `source ${i} took ${time} ms`);
  }
});

test("chunks of a stream that only look like bytes", async () => {
  for (const chunk of [{ BYTES_PER_ELEMENT: 1, length: 100 }, new DataView(new ArrayBuffer(8)), null, [1, 2]]) {
    const stream = new ReadableStream({ start: (to) => (to.enqueue(chunk), to.close()) });
    await refuses(() => ready().weights.load(stream), "weights", "bytes");
  }
});

test("a name of 5 MB gives a short message that still says what was expected", async () => {
  const long = "n".repeat(5e6);
  const instance = ready();
  const x = new Float32Array(model);
  await refuses(() => load(long), "unknown-kernel", "expected", "got nnn");
  await refuses(() => load(`./${long}`), "network");
  await refuses(() => load(`http://127.0.0.1:9/${long}.wasm`), "network", "127.0.0.1", "fetch failed");
  await refuses(() => load({ kind: long }), "unknown-kernel", "expected attention, got nnn");
  await refuses(() => load(scalar, { variant: long }), "unsupported", "expected", "got nnn");
  await refuses(() => kernel.create({ mask: long }), "mask", "expected", "got nnn");
  await refuses(() => instance.run(x, { [long]: 1 }), "option", "expected tokens,", "got nnn");
  await refuses(() => instance.weights.set({ [long]: [] }), "weights", "nnn", "expected a Float32Array");
  await refuses(() => instance.weights.set({ [long]: x }), "weights", "expected in_proj_weight", "got nnn");
  await refuses(() => instance.weights.set(weights, { prefix: long }), "weights", "expected nnn");
  await refuses(() => instance.weights.tensor(long), "weights", "expected in_proj_weight", "got nnn");
  await refuses(() => instance.weights.load(`./${long}`), "network");
  for (const entry of [
    null,
    [],
    { dtype: long, shape: [1], data_offsets: [8, 0] },
    { dtype: "F32", shape: [1], data_offsets: [0, 8] },
  ]) {
    await refuses(() => instance.weights.load(fileOf(JSON.stringify({ [long]: entry }))), "weights", "nnn", "expected");
  }
  const odd = await load(withSection(JSON.stringify({ ...description, layout: long }), scalar));
  await refuses(() => odd.create().weights.set({}), "weights", "expected in_proj_weight");
});

test("a rotary base that is not a number", async () => {
  const rotary = { positions: 4, width: 2 };
  const options = [...description.options, { name: "rotary", type: "rotary_table" }];
  const content = JSON.stringify({ ...description, rotary, options });
  const instance = (await load(withSection(content, scalar))).create();
  instance.weights.set(weights);
  for (const value of [Symbol("a"), 5n, Object.create(null), "1e4", null]) {
    for (const name of ["base", "scaling"]) {
      const run = () => instance.run(new Float32Array(model), { tokens: 1, rotary: { [name]: value } });
      await refuses(run, "option", `rotary.${name}`);
    }
  }
});

const dateFile = new Uint8Array(readFileSync(new URL("../dist/models/date_reader.safetensors", import.meta.url)));

/** Returns the shipped weights of the date reader, with other metadata or other tensors. */
const dateWeights = (change) => {
  const bytes = dateFile.slice();
  const { header, data } = headerOf(bytes);
  return fileOf(JSON.stringify(change(header)), data);
};
test("metadata of the date reader that are not strings", async () => {
  const metadata = (part) => dateWeights((header) => ({ ...header, __metadata__: part }));
  const { alphabet, sure_enough } = headerOf(dateFile).header.__metadata__;
  for (const part of [
    { alphabet: null, sure_enough },
    { alphabet: 5, sure_enough },
    { alphabet: [], sure_enough },
    { alphabet: {}, sure_enough },
    { alphabet },
    { alphabet, sure_enough: null },
    { alphabet, sure_enough: {} },
    { alphabet, sure_enough: "often" },
    null,
    5,
  ]) {
    await refuses(() => DateReader.load({ weights: metadata(part) }), "weights");
  }
  const longer = metadata({ alphabet: `${alphabet}!`, sure_enough });
  await refuses(() => DateReader.load({ weights: longer }), "length", "character.weight");
  const reader = await DateReader.load({ weights: metadata({ alphabet, sure_enough }) });
  assert.equal(reader.read("3rd of Feb, 2024").date, "2024-02-03");
});

test("tables of the date reader that are too short", async () => {
  const { header } = headerOf(dateFile);
  for (const name of ["position", "slot", "character.weight", "classifier.weight", "classifier.bias"]) {
    // Makes the tensor `name` one row too short. The bytes of its last row become the tensor `rest`, because a
    // safetensors file must not have gaps.
    const short = dateWeights(({ [name]: { dtype, shape, data_offsets: [begin, end] }, ...rest }) => {
      const [rows, ...columns] = shape;
      const middle = begin + ((end - begin) / rows) * (rows - 1);
      return {
        ...rest,
        [name]: { dtype, shape: [rows - 1, ...columns], data_offsets: [begin, middle] },
        rest: { dtype, shape: [1, ...columns], data_offsets: [middle, end] },
      };
    });
    assert.ok(header[name], name);
    await refuses(() => DateReader.load({ weights: short }), "length", name);
  }
});
