// Tests the int8 file that the page makes from a float file (demo/weight-file.ts).
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { int8Checkpoint } from "./int8_checkpoint.mjs";
import { moduleBytes, randomOf, randoms } from "./kernels.mjs";
import { randomHalves, valuesOf } from "./narrow_floats.mjs";
import { fileOf, headerOf, safetensors } from "./safetensors.mjs";

let page;
const folder = mkdtempSync(join(tmpdir(), "ladon-int8-"));
before(async () => {
  const bundle = async (name) => {
    const outfile = join(folder, `${name}.mjs`);
    await build({
      entryPoints: [fileURLToPath(new URL(`../demo/${name}.ts`, import.meta.url))],
      outfile,
      bundle: true,
      format: "esm",
    });
    return import(pathToFileURL(outfile));
  };
  page = { ...(await bundle("weight-file")), ...(await bundle("quantise-row")) };
});
after(() => rmSync(folder, { recursive: true }));

const random = randomOf(8);
const ignore = () => undefined;

/** Returns the bytes of the int8 file that the page makes from a file. */
const made = async (file, progress = ignore, signal = new AbortController().signal) => {
  const int8 = await page.int8File(await page.openWeightFile(new Blob([file])), progress, signal);
  return new Uint8Array(await int8.arrayBuffer());
};

/** Quantises rows by the C function of a module. Returns the status, the integers and the scales. */
const byModule = (floats, rows) => {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(moduleBytes("minilm_int8", "scalar")));
  let end = exports.__heap_base.value;
  const take = (bytes) => {
    const at = Math.ceil(end / 64) * 64;
    end = at + bytes;
    return at;
  };
  const [at, weight, scale, sums] = [4 * floats.length, floats.length, 4 * rows, 4 * rows].map(take);
  exports.memory.grow(Math.ceil(end / 65536));
  const { buffer } = exports.memory;
  new Float32Array(buffer, at).set(floats);
  const status = exports.quantise_rows(at, rows, floats.length / rows, weight, scale, sums);
  return {
    status,
    integers: new Int8Array(buffer, weight, floats.length).slice(),
    scales: new Float32Array(buffer, scale, rows).slice(),
  };
};

test("a row has the bits of the C++ library: random, tie, zero, tiny and largest weights", () => {
  const largest = 3.4028234663852886e38;
  const rows = [
    ...Array.from({ length: 200 }, (_, i) => randoms(random, 64, 10 ** ((i % 60) - 30))),
    Float32Array.from({ length: 64 }, (_, i) => (i ? i - 32.5 : 127)), // the scale is 1, the quotients are ties
    new Float32Array(64),
    new Float32Array(64).fill(-0),
    new Float32Array(64).fill(127 * 2 ** -126),
    new Float32Array(64).fill(126 * 2 ** -126),
    new Float32Array(64).fill(2 ** -149),
    Float32Array.from({ length: 64 }, (_, i) => (i % 2 ? largest : -largest)),
  ];
  rows.forEach((row, at) => {
    const to = new Int8Array(64);
    const scale = page.quantiseRow(row, to);
    const { status, integers, scales } = byModule(row, 1);
    assert.equal(status, 0);
    assert.deepEqual([...to], [...integers], `row ${at}`);
    assert.ok(Object.is(scale, scales[0]), `scale of row ${at}: ${scale}, ${scales[0]}`);
  });
  for (const wrong of [NaN, Infinity, -Infinity]) {
    assert.ok(Number.isNaN(page.quantiseRow(Float32Array.of(1, wrong), new Int8Array(2))));
  }
});

const checkpoint = (more = []) =>
  safetensors([
    ["ids", [1, 3], new Uint8Array(24), "I64"],
    ["b.weight", [5, 7], randoms(random, 35)],
    ["a.in_proj_weight", [2, 4], randoms(random, 8)],
    ["norm.weight", [7], randoms(random, 7)],
    ["a.bias", [5], randoms(random, 5)],
    // The page quantises a matrix in pieces of about one megabyte. This matrix has 2.4 MB, so its rows come from
    // several pieces.
    ["embed.weight", [1500, 400], randoms(random, 600_000)],
    ...more,
  ]);

test("matrices become int8 with scales, everything else is copied; progress reaches the end", async () => {
  const file = checkpoint();
  const seen = [];
  const { header, data } = headerOf(await made(file, (...both) => seen.push(both)));
  assert.deepEqual(Object.keys(header), [
    ...["__metadata__", "ids", "a.bias", "a.in_proj_weight_scale", "b.weight_scale", "embed.weight_scale"],
    ...["norm.weight", "a.in_proj_weight", "b.weight", "embed.weight"],
  ]);
  assert.deepEqual(header.__metadata__, { format: "pt" });
  const source = headerOf(file);
  const bytesOf = ({ header, data }, name) => data.slice(...header[name].data_offsets);
  for (const name of ["ids", "a.bias", "norm.weight"]) {
    assert.deepEqual(bytesOf({ header, data }, name), bytesOf(source, name), name);
    assert.deepEqual(header[name].shape, source.header[name].shape);
  }
  for (const name of ["a.in_proj_weight", "b.weight", "embed.weight"]) {
    const { shape } = source.header[name];
    assert.deepEqual(header[name].shape, shape);
    assert.deepEqual(header[`${name}_scale`].shape, [shape[0], 1]);
    const { integers, scales } = byModule(new Float32Array(bytesOf(source, name).buffer), shape[0]);
    assert.ok(Buffer.from(integers.buffer).equals(bytesOf({ header, data }, name)), name);
    assert.deepEqual(new Float32Array(bytesOf({ header, data }, `${name}_scale`).buffer), scales);
  }
  assert.ok(seen.every(([bytes, total], i) => total === file.length && bytes > (seen[i - 1]?.[0] ?? 0)));
  assert.equal(seen.at(-1)[0], file.length);
});

test("the file equals the file of another implementation", async () => {
  const file = safetensors([
    ["b.weight", [5, 7], randoms(random, 35)],
    ["norm.weight", [7], randoms(random, 7)],
  ]);
  assert.deepEqual(Buffer.from(await made(file)), Buffer.from(int8Checkpoint(file)));
});

test("F16 and BF16 matrices have the int8 weights of their values", async () => {
  for (const dtype of ["F16", "BF16"]) {
    const halves = randomHalves(random, 24, dtype);
    const narrow = safetensors([["w.weight", [4, 6], halves, dtype]]);
    const wide = safetensors([["w.weight", [4, 6], valuesOf(halves, dtype)]]);
    assert.deepEqual(await made(narrow), await made(wide), dtype);
  }
});

test("an int8 file is copied; float embeddings beside int8 weights become int8", async () => {
  const int8 = await made(checkpoint());
  assert.deepEqual(await made(int8), int8);
  const isInt8 = async (file) => page.hasInt8(await page.openWeightFile(new Blob([file])));
  assert.equal(await isInt8(int8), true);
  assert.equal(await isInt8(checkpoint()), false);
  const mixed = safetensors([
    ["w.weight_scale", [2, 1], Float32Array.of(1, 2)],
    ["embed.weight", [2, 2], Float32Array.of(1, 2, 3, 4)],
    ["w.weight", [2, 2], Uint8Array.of(1, 2, 3, 4), "I8"],
  ]);
  const { header, data } = headerOf(await made(mixed));
  assert.equal(header["embed.weight"].dtype, "I8");
  assert.deepEqual([...data.slice(...header["w.weight"].data_offsets)], [1, 2, 3, 4]);
});

test("invalid files", async () => {
  const refuses = (file, message) => assert.rejects(made(file), { message });
  await refuses(Uint8Array.of(1, 2), /2 bytes/);
  await refuses(new TextEncoder().encode("<!doctype html><p>"), /not a safetensors file/);
  await refuses(fileOf("no JSON"), /JSON/);
  const file = checkpoint();
  await refuses(file.slice(0, -1), new RegExp(`must have ${file.length} bytes, but have ${file.length - 1}`));
  await refuses(new Uint8Array([...file, 0]), new RegExp(`but have ${file.length + 1}`));
  await refuses(checkpoint([["x.weight", [2, 2], Float32Array.of(1, 2, NaN, 4)]]), /row 1 of x\.weight/);
  await refuses(checkpoint([["b.weight_scale", [5], randoms(random, 5)]]), /b\.weight_scale/);
});

test("an abort stops the work", async () => {
  const controller = new AbortController();
  const stop = (bytes) => bytes > 100_000 && controller.abort();
  await assert.rejects(made(checkpoint(), stop, controller.signal), { name: "AbortError" });
});
