// Tests `weights.load`, which streams a safetensors file to its place in memory. After any error, the weights must be
// unchanged.
import assert from "node:assert/strict";
import { writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { load } from "../dist/index.js";
import { bert, llama } from "./checkpoint_names.mjs";
import { moduleBytes, randomOf, randoms, shipped, weightsOf } from "./kernels.mjs";
import { refuses } from "./refuses.mjs";
import { safetensors, streamOf } from "./safetensors.mjs";

const random = randomOf(11);
const kernel = await load("attention_64_4", { variant: "scalar" });
const { model } = kernel.description;
const shapes = Object.fromEntries(kernel.description.weights.map(({ name, shape }) => [name, shape]));
const pytorch = (name) => name.replace("out_proj_", "out_proj.");
const tensorsOf = (weights, rename = pytorch) =>
  Object.entries(weights).map(([name, data]) => [rename(name), shapes[name], data]);
const [old, fresh] = [weightsOf(kernel.description, random), weightsOf(kernel.description, random)];
const x = randoms(random, 5 * model);
const runOf = (instance) => instance.run(x, { tokens: 5 }).slice();
const made = (weights) => {
  const instance = kernel.create();
  instance.weights.set(weights);
  return instance;
};
const [oldY, freshY] = [runOf(made(old)), runOf(made(fresh))];
const file = safetensors(tensorsOf(fresh));

test("every kind of source, in pieces of every size", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ladon-"));
  const path = join(folder, "model.safetensors");
  writeFileSync(path, file);
  const sources = [
    file,
    file.buffer,
    new DataView(file.buffer),
    new Blob([file]),
    new Response(file),
    pathToFileURL(path),
    `${pathToFileURL(path)}`,
    path,
    ...[1, 3, 8, 9, 64, 1e4, 1e6].map((piece) => streamOf(file, piece)),
  ];
  for (const source of sources) {
    const instance = made(old);
    const seen = [];
    await instance.weights.load(source, { progress: (bytes, total) => seen.push([bytes, total]) });
    assert.deepEqual(runOf(instance), freshY);
    assert.deepEqual(seen.at(-1), [file.length, file.length]);
    assert.ok(
      seen.every(([bytes], i) => i === 0 || bytes > seen[i - 1][0]),
      "progress goes on",
    );
    assert.deepEqual(instance.weights.tensor("out_proj.bias"), fresh.out_proj_bias);
  }
  rmSync(folder, { recursive: true });
});

test("in Node, a path may contain any characters", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "ladon#1 "));
  const before = process.cwd();
  t.after(() => (process.chdir(before), rmSync(folder, { recursive: true })));
  process.chdir(folder);
  for (const name of ["m#1.safetensors", "m 100%.safetensors", "m%201.safetensors", "m?1", "c:m", "weights"]) {
    writeFileSync(name, file);
    for (const path of [name, `./${name}`, join(folder, name), `${pathToFileURL(name)}`]) {
      const instance = made(old);
      await instance.weights.load(path);
      assert.deepEqual(runOf(instance), freshY, path);
    }
  }
  for (const name of ["a#1", "100%", "a%201"]) {
    writeFileSync(`${name}.scalar.wasm`, moduleBytes("attention_64_4", "scalar"));
    for (const path of [`./${name}`, `./${name}.scalar.wasm`]) await load(path, { variant: "scalar" });
  }
});

test("over HTTP, by URL, with an error status, and truncated", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/none") return response.writeHead(404).end("no");
    response.writeHead(200, { "content-length": file.length });
    if (request.url === "/whole") return response.end(file);
    response.write(file.subarray(0, 5000), () => response.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = `http://127.0.0.1:${server.address().port}`;
  const instance = made(old);
  await refuses(() => instance.weights.load(`${at}/none`), "network", "404");
  await refuses(() => instance.weights.load(`${at}/cut`), "network");
  assert.deepEqual(runOf(instance), oldY);
  await instance.weights.load(new URL(`${at}/whole`));
  assert.deepEqual(runOf(instance), freshY);
  await refuses(async () => instance.weights.load(await fetch(`${at}/none`)), "network", "404");
  await new Promise((resolve) => server.close(resolve));
});

test("a page of HTML in place of a file gives an error with its URL", async () => {
  const server = createServer((request, response) => response.end("<!doctype html><title>Not found</title>"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/model.safetensors`;
  await refuses(() => made(old).weights.load(url), "weights", url, "<!doctyp");
  await refuses(async () => made(old).weights.load(await fetch(url)), "weights", url, "<!doctyp");
  await refuses(() => load(`${url}.wasm`), "not-a-module", `${url}.wasm`, "<!doctyp");
  await new Promise((resolve) => server.close(resolve));
});

test("a body that has been read, or is being read", async () => {
  const [read, locked] = [new Response(file), streamOf(file, 1000)];
  await read.text();
  locked.getReader();
  for (const source of [read, locked]) await refuses(() => made(old).weights.load(source), "weights");
});

test("shared memory", async () => {
  const shared = new Uint8Array(new SharedArrayBuffer(file.length));
  shared.set(file);
  for (const source of [shared, shared.buffer, new DataView(shared.buffer)]) {
    const instance = made(old);
    await instance.weights.load(source);
    assert.deepEqual(runOf(instance), freshY);
  }
});

test("no memory is allocated for missing bytes", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "ladon-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const end = tensorsOf(fresh).reduce((sum, [, , data]) => sum + data.byteLength, 0);
  const claims = { junk: { dtype: "F32", shape: [2 ** 28], data_offsets: [end, end + 2 ** 30] } };
  const lying = damaged((header) => ({ ...header, ...claims }));
  const path = join(folder, "lying.safetensors");
  writeFileSync(path, lying);
  const server = createServer((request, response) => response.setHeader("content-length", lying.length).end(lying));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  for (const source of [lying, new Blob([lying]), path, url]) {
    const instance = made(old);
    const before = runOf(instance) && instance.run(x, { tokens: 5 }).buffer.byteLength;
    await refuses(() => instance.weights.load(source), "weights", `got ${lying.length}`);
    assert.equal(instance.run(x, { tokens: 5 }).buffer.byteLength, before);
  }
  await new Promise((resolve) => server.close(resolve));
});

test("the length of a compressed response is its decompressed length", async () => {
  const packed = gzipSync(file);
  const server = createServer((request, response) => {
    response.writeHead(200, { "content-encoding": "gzip", "content-length": packed.length }).end(packed);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const instance = made(old);
  await instance.weights.load(`http://127.0.0.1:${server.address().port}`);
  assert.deepEqual(runOf(instance), freshY);
  await new Promise((resolve) => server.close(resolve));
});

const damaged = (change) => safetensors(tensorsOf(fresh), { change });
const entry = (name, part) => damaged((header) => ({ ...header, [name]: { ...header[name], ...part } }));
const withLength = (length) => {
  const bytes = file.slice();
  new DataView(bytes.buffer).setBigUint64(0, length, true);
  return bytes;
};
const count = fresh.in_proj_weight.length;

for (const [what, source, code, ...texts] of [
  ["an empty file", new Uint8Array(), "weights", "expected 8, got 0"],
  ["seven bytes", file.subarray(0, 7), "weights", "got 7"],
  ["a truncated header", file.subarray(0, 60), "weights", "got 60"],
  ["truncated data", file.subarray(0, -1), "weights", `expected ${file.length}, got ${file.length - 1}`],
  ["one byte too many", Uint8Array.from([...file, 0]), "weights", "more"],
  ["a header of 2^64 - 1 bytes", withLength(2n ** 64n - 1n), "weights", "at most 100000000"],
  ["a header of 100 MB", withLength(100_000_000n), "weights", "got"],
  ["no JSON", new Uint8Array(100).fill(32).fill(0, 1, 8), "weights", "JSON"],
  ["a header that is null", safetensors([], { change: () => null }), "weights", "an object"],
  ["an empty header", safetensors([], { change: () => ({}) }), "weights", "in_proj_weight"],
  ["an entry that is null", damaged((header) => ({ ...header, in_proj_bias: null })), "weights", "in_proj_bias"],
  ["a negative offset", entry("in_proj_bias", { data_offsets: [-4, 8] }), "weights", "in_proj_bias"],
  ["a fractional size", entry("in_proj_bias", { shape: [0.5] }), "weights", "in_proj_bias"],
  ["one offset", entry("in_proj_bias", { data_offsets: [4] }), "weights", "two data_offsets"],
  [
    "offsets that overlap",
    entry("in_proj_weight", { data_offsets: [0, 4 * count + 4], shape: [count + 1] }),
    "weights",
    "first byte",
  ],
  ["a gap", entry("in_proj_weight", { data_offsets: [0, 4 * count - 4], shape: [count - 1] }), "weights", "first byte"],
  [
    "bytes that are not the shape's",
    entry("in_proj_weight", { shape: [64, 64] }),
    "weights",
    "bytes of in_proj_weight",
  ],
  ["another dtype", entry("in_proj_weight", { dtype: "I32" }), "weights", "in_proj_weight", "float32", "int32"],
  ["a dtype that nobody knows", entry("in_proj_weight", { dtype: "float32" }), "weights", "got dtype float32"],
  [
    "int8 weights",
    safetensors(tensorsOf(fresh).map(([name, shape, data]) => [name, shape, new Int8Array(data.length), "I8"])),
    "weights",
    "PRECISION int8",
    "got int8",
  ],
  [
    "half the bits",
    safetensors(tensorsOf(fresh).map(([name, shape, data]) => [name, shape, new Uint8Array(data.length), "F16"])),
    "weights",
    "bytes of in_proj_weight",
  ],
  ["another shape", entry("in_proj_weight", { shape: [64, 192] }), "shape", "192,64", "64,192"],
  ["a tensor missing", safetensors(tensorsOf(fresh).slice(1)), "weights", "in_proj_weight"],
  [
    "a bias that the kernel lacks",
    safetensors([...tensorsOf(fresh), ["q_proj_weight", [1], x.slice(0, 1)]]),
    "weights",
    "q_proj_weight",
  ],
  [
    "separate q, k and v of BERT",
    safetensors(["query", "key", "value"].map((name) => [`self.${name}.weight`, [1], x.slice(0, 1)])),
    "weights",
    "LAYOUT in_proj",
    "self.query.weight",
  ],
  [
    "a stream of text",
    new ReadableStream({ start: (to) => (to.enqueue("x".repeat(100)), to.close()) }),
    "weights",
    "bytes",
  ],
  [
    "a stream that fails",
    streamOf(file, 1000, (at) => {
      if (at > 5000) throw new TypeError("cable cut");
    }),
    "network",
    "cable cut",
  ],
  ["a number", 7, "weights", "bytes", "got 7"],
  ["nothing at all", undefined, "weights", "got undefined"],
  ["an object", {}, "weights", "a URL"],
  ["a forgotten await", Promise.resolve(file), "weights", "await"],
  ["a response without a body", new Response(null), "weights", "expected 8, got 0"],
  ["a page of HTML", new TextEncoder().encode("<!doctype html><title>Not found</title>"), "weights", '"<!doctyp"'],
  ["no file", "./nowhere.safetensors", "network", "nowhere.safetensors"],
]) {
  test(`refused: ${what}`, async () => {
    const [bare, instance] = [kernel.create(), made(old)];
    if (!(source instanceof ReadableStream)) {
      await refuses(() => bare.weights.load(source), code, ...texts);
      assert.throws(() => bare.run(x, { tokens: 5 }), { code: "weights" });
    }
    await refuses(() => instance.weights.load(source), code, ...texts);
    assert.deepEqual(runOf(instance), oldY, "the weights are unchanged");
    assert.deepEqual(instance.weights.tensor("in_proj_bias"), old.in_proj_bias);
    await instance.weights.load(file);
    assert.deepEqual(runOf(instance), freshY, "and can be loaded afterwards");
  });
}

test("tensors that begin at any byte of a file", async () => {
  const instance = made(old);
  await instance.weights.load(safetensors([["odd", [1], new Uint8Array(1), "U8"], ...tensorsOf(fresh)], { pad: 7 }));
  assert.deepEqual(runOf(instance), freshY);
});

test("tensors that the kernel does not need may be of any dtype and are views", async () => {
  const instance = kernel.create();
  const words = randoms(random, 12);
  const ids = new Uint8Array(16);
  await instance.weights.load(safetensors([...tensorsOf(fresh), ["words", [3, 4], words], ["ids", [2], ids, "I64"]]));
  assert.deepEqual(instance.weights.tensor("words"), words);
  assert.deepEqual(runOf(instance), freshY);
  assert.throws(() => instance.weights.tensor("ids"), { code: "weights", message: /I64/ });
  assert.throws(() => instance.weights.tensor("none"), { code: "weights" });
});

test("a prefix", async () => {
  const bytes = safetensors(tensorsOf(fresh, (name) => `layers.3.self_attn.${pytorch(name)}`));
  for (const prefix of ["layers.3.self_attn", "layers.3.self_attn."]) {
    const instance = kernel.create();
    await instance.weights.load(bytes, { prefix });
    assert.deepEqual(runOf(instance), freshY);
  }
  await refuses(
    () => kernel.create().weights.load(bytes, { prefix: "layers.4.self_attn" }),
    "weights",
    'no tensor below the prefix "layers.4.self_attn."',
    "such tensors are below the prefix layers.3.self_attn",
  );
});

test("a LoRA adapter, a shard, an index, a pointer of Git LFS and a zip archive are named", async () => {
  const lora = "base_model.model.layers.0.self_attn.q_proj.lora_A.weight";
  await refuses(
    () => made(old).weights.load(safetensors([[lora, [1], x.slice(0, 1)]]), { prefix: "base_model.model" }),
    "weights",
    "is a LoRA adapter",
    "lora_A",
  );
  const folder = mkdtempSync(join(tmpdir(), "ladon-"));
  const shard = join(folder, "model-00001-of-00002.safetensors");
  writeFileSync(shard, safetensors(tensorsOf(fresh).slice(1)));
  await refuses(() => made(old).weights.load(shard), "weights", "the file is a shard", "in_proj_weight");
  writeFileSync(shard, file);
  const instance = made(old);
  await instance.weights.load(shard);
  assert.deepEqual(runOf(instance), freshY);
  rmSync(folder, { recursive: true });
  for (const [content, text] of [
    ['{"metadata": {"total_size": 1}}', "index"],
    ["version https://git-lfs.github.com/spec/v1", "git lfs pull"],
    ["PK\x03\x04\x14\0\0\b\b\0", "zip archive"],
  ]) {
    await refuses(() => made(old).weights.load(new TextEncoder().encode(content)), "weights", text);
  }
});

test("fused tensors are named", async () => {
  const fused = tensorsOf(fresh, (name) => `self_attn.${pytorch(name).replace("in_proj_", "qkv_proj.")}`);
  const missing = ["ladon-weights pack", "self_attn.qkv_proj.weight", "expected self_attn.in_proj_weight"];
  await refuses(() => made(old).weights.load(safetensors(fused), { prefix: "self_attn" }), "weights", ...missing);
  const elsewhere = ["ladon-weights pack", 'no tensor below the prefix "layers."'];
  await refuses(() => made(old).weights.load(safetensors(fused), { prefix: "layers" }), "weights", ...elsewhere);
  // With all tensors of the kernel, a fused tensor elsewhere in the file is no error.
  const others = [...tensorsOf(fresh), ["decoder.self_attn.qkv_proj.weight", [5], x.slice(0, 5)]];
  const instance = made(old);
  await instance.weights.load(safetensors(others));
  assert.deepEqual(runOf(instance), freshY);
});

test("a header and a search for tensors take work in proportion to the names", async (context) => {
  let work = 0;
  const count = (type, method, size) => {
    const original = type.prototype[method];
    type.prototype[method] = function (...given) {
      work += size(this);
      return original.apply(this, given);
    };
    context.after(() => (type.prototype[method] = original));
  };
  for (const method of ["slice", "startsWith", "split", "indexOf"]) count(String, method, (text) => 1 + text.length);
  for (const method of ["find", "findIndex", "includes", "indexOf", "filter", "map", "some", "every"]) {
    count(Array, method, (list) => 1 + list.length);
  }
  for (const method of ["get", "has", "set"]) count(Map, method, () => 1);
  const workFor = async (tensors, nameOf) => {
    const entries = Array.from({ length: tensors }, (_, i) => [nameOf(i), [0], new Float32Array()]);
    const bytes = safetensors(entries);
    const instance = kernel.create();
    work = 0;
    await refuses(() => instance.weights.load(bytes, { prefix: "absent" }), "weights", "in_proj_weight");
    return work;
  };
  for (const nameOf of [(i) => `t${i}`, (i) => `${"a.".repeat(30)}${i}`, (i) => `p${i}.in_proj_bia`]) {
    const [few, many] = [await workFor(1000, nameOf), await workFor(4000, nameOf)];
    assert.ok(few > 1000, `${few}`);
    assert.ok(many < 5 * few, `four times as many tensors take ${many / few} times the work`);
  }
});

/** Returns a stream that pauses after `first` bytes until `release` is called. */
const held = (first) => {
  let release;
  const gate = new Promise((resolve) => (release = resolve));
  let reached;
  const there = new Promise((resolve) => (reached = resolve));
  const stream = streamOf(file, 1000, (at) => (at > first ? (reached(), gate) : undefined));
  return { stream, release, there };
};

test("the instance is busy while weights are streamed", async () => {
  const instance = made(old);
  const { stream, release, there } = held(9000);
  const loading = instance.weights.load(stream);
  await there;
  assert.throws(() => instance.run(x, { tokens: 5 }), { code: "busy" });
  assert.throws(() => instance.weights.set(old), { code: "busy" });
  await refuses(() => instance.weights.load(file), "busy");
  release();
  await loading;
  assert.deepEqual(runOf(instance), freshY);
});

test("an abort before and during a load", async () => {
  const instance = made(old);
  await refuses(() => instance.weights.load(file, { signal: AbortSignal.abort() }), "aborted");
  const { stream, there } = held(9000);
  const controller = new AbortController();
  const loading = instance.weights.load(stream, { signal: controller.signal });
  await there;
  controller.abort(new Error("enough"));
  await assert.rejects(loading, (error) => error.code === "aborted" && error.cause.message === "enough");
  assert.deepEqual(runOf(instance), oldY);
  await instance.weights.load(file);
  assert.deepEqual(runOf(instance), freshY);
});

test("freed while weights are streamed", async () => {
  const instance = made(old);
  const { stream, there } = held(9000);
  const loading = instance.weights.load(stream);
  await there;
  instance.free();
  await refuses(() => loading, "closed");
  const other = made(old);
  const early = other.weights.load(file);
  other.free();
  await refuses(() => early, "closed");
});

test("a progress callback that throws", async () => {
  const instance = made(old);
  await assert.rejects(
    instance.weights.load(file, {
      progress() {
        throw new SyntaxError("mine");
      },
    }),
    SyntaxError,
  );
  assert.deepEqual(runOf(instance), oldY);
});

test("one after the other: arrays, files, arrays; memory does not grow without limit", async () => {
  const instance = made(old);
  let bytes = 0;
  for (let i = 0; i < 6; ++i) {
    await instance.weights.load(file);
    assert.deepEqual(runOf(instance), freshY);
    instance.weights.set(old);
    assert.deepEqual(runOf(instance), oldY);
    const size = instance.run(x, { tokens: 5 }).buffer.byteLength;
    if (i > 1) assert.equal(size, bytes);
    bytes = size;
  }
});

test("names of PyTorch, BERT and Llama in a stack, packed and separate", async () => {
  const minilm = await load(shipped("minilm"), { variant: "scalar" });
  const { description } = minilm;
  const { layers, layer, model: width } = description;
  const own = weightsOf(description, random);
  const input = randoms(random, width);
  const yOf = (instance) => instance.run(input, { tokens: 1 }).slice();
  const first = minilm.create();
  first.weights.set(own);
  const y = yOf(first);
  const old = (name) =>
    bert(name)
      .replace(/(LayerNorm\.)weight/, "$1gamma")
      .replace(/(LayerNorm\.)bias/, "$1beta");
  for (const rename of [bert, old, llama]) {
    const instance = minilm.create();
    instance.weights.set(Object.fromEntries(Object.entries(own).map(([name, data]) => [rename(name), data])));
    assert.deepEqual(yOf(instance), y, rename.name);
  }
  // Sets the weights by PyTorch's names. PyTorch has the projections of queries, keys and values in one tensor.
  const packed = {};
  for (let i = 0; i < layers; ++i) {
    for (const { name: member } of layer) {
      const name = `layers.${i}.${member.replace("attention.", "self_attn.")}`.replace(
        /(out_proj|linear.|norm.)_/,
        "$1.",
      );
      const data = own[`layers.${i}.${member}`];
      if (/key|value/.test(member)) continue;
      if (!/query/.test(member)) packed[name] = data;
      else {
        const three = ["query", "key", "value"].map((one) => own[`layers.${i}.${member.replace("query", one)}`]);
        packed[name.replace("query", "in")] = Float32Array.from(three.flatMap((part) => [...part]));
      }
    }
  }
  const instance = minilm.create();
  instance.weights.set(packed);
  assert.deepEqual(yOf(instance), y);
  // Loads a file with BERT's names below the prefix "bert". The file also has tensors that the kernel does not need.
  const shapeOf = Object.fromEntries(layer.map(({ name, shape }) => [name, shape]));
  const entries = Object.entries(own).map(([name, data]) => [
    `bert.${bert(name)}`,
    shapeOf[name.replace(/layers\.\d+\./, "")],
    data,
  ]);
  const beside = [
    ["bert.pooler.dense.weight", [1], randoms(random, 1)],
    ["bert.embeddings.position_ids", [1], new Uint8Array(8), "I64"],
  ];
  await first.weights.load(safetensors([...entries, ...beside]), { prefix: "bert" });
  assert.deepEqual(yOf(first), y);
  const more = entries
    .filter(([name]) => name.includes("layer.5."))
    .map(([name, ...rest]) => [name.replace("layer.5.", "layer.6."), ...rest]);
  await refuses(
    () => first.weights.load(safetensors([...entries, ...more]), { prefix: "bert" }),
    "weights",
    "no others",
    "layer.6.",
  );
  await refuses(
    () => first.weights.load(safetensors(entries)),
    "weights",
    "such tensors are below the prefix bert",
  );
});
