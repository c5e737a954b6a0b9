// Tests imported models: results, errors, streams of weights, and the typed wrapper.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Model } from "../dist/model.js";
import { checkpointFolder, importedFolder, readTensors, recorded, variantsOf } from "./models/imported.mjs";
import { refuses } from "./refuses.mjs";
import { streamOf } from "./safetensors.mjs";

const fileOf = (name, end) => join(importedFolder(name), `${name}${end}`);
const wrapperOf = (name) => import(pathToFileURL(fileOf(name, ".js")));
const weightsOf = (name) => new Uint8Array(readFileSync(fileOf(name, ".weights")));
const load = (name, options = {}) => Model.load({ module: fileOf(name, ""), weights: fileOf(name, ".weights"), ...options });

/** Returns the largest error, as a share of the largest expected value. */
function errorOf(actual, expected) {
  assert.equal(actual.length, expected.length);
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return expected.reduce((most, value, i) => Math.max(most, Math.abs(value - actual[i])), 0) / largest;
}

/** Asserts that the largest error is at most 2e-5 of the largest value, as `ladon-import --compare` does. */
function close(actual, expected) {
  const error = errorOf(actual, expected);
  assert.ok(error <= 2e-5, `an error of ${error}`);
}

for (const name of ["gpt2", "t5"]) {
  for (const variant of variantsOf(name)) {
    test(`${name}, ${variant}: the last hidden state of transformers, twice`, async () => {
      const { inputs, last } = recorded(name);
      const model = await load(name, { variant });
      assert.equal(model.description.variant, variant);
      const result = model.run(inputs);
      assert.equal(result.rows * result.width, last.length);
      close(result.last, last);
      assert.deepEqual(model.run(inputs).last, result.last);
      model.free();
      await refuses(() => model.run(inputs), "closed");
    });
  }
}

test("4-bit weights, some of them 8-bit: every variant has the same rows, which are near those of float32", async () => {
  const { inputs, last } = recorded("gpt2");
  const scalar = await load("gpt2_int4", { variant: "scalar" });
  assert.equal(scalar.description.precision, "int4");
  const expected = scalar.run(inputs).last;
  assert.ok(errorOf(expected, last) <= 0.1); // was 0.07; the model has 48 features, so its groups of 32 are few
  for (const variant of variantsOf("gpt2_int4")) {
    const error = errorOf((await load("gpt2_int4", { variant })).run(inputs).last, expected);
    assert.ok(error <= (variant === "relaxed" ? 0.01 : 1e-6), `${variant}: ${error}`); // fused sums may round otherwise
  }
  assert.ok(weightsOf("gpt2_int4").length < 0.5 * weightsOf("gpt2").length);
});

test("a classifier of own modules: pool is the mean of the rows, and head a linear map of it", async () => {
  const model = await load("classifier");
  const samples = Float32Array.from({ length: 11 * 3 }, (_, i) => Math.sin(i));
  const { last, rows, width } = model.run({ samples });
  assert.deepEqual([rows, width], [11, 16]);
  const mean = Array.from({ length: width }, (_, i) => last.reduce((sum, value, at) => sum + (at % width === i ? value : 0), 0) / rows);
  const pooled = model.pool({ samples });
  close(pooled, mean);
  const { "classifier.weight": weight, "classifier.bias": bias } = readTensors(join(checkpointFolder("classifier"), "model.safetensors"));
  close(model.head({ samples }), bias.map((start, k) => pooled.reduce((sum, value, i) => sum + value * weight[k * width + i], start)));
});

for (const variant of variantsOf("tagger")) {
  test(`a head that gives each row a class, ${variant}`, async () => {
    const model = await load("tagger", { variant });
    const described = model.description.functions.find(({ name }) => name === "head");
    assert.deepEqual([described.hasRows, described.most, described.width], [true, 20, 5]);
    const { "classifier.weight": weight, "classifier.bias": bias } = readTensors(join(checkpointFolder("tagger"), "model.safetensors"));
    for (const frames of [20, 1, 11]) {
      const samples = Float32Array.from({ length: frames * 3 }, (_, i) => Math.sin(i));
      const { last, rows, width } = model.run({ samples });
      assert.equal(rows, frames);
      const logits = Array.from({ length: rows }, (_, row) =>
        bias.map((start, k) => start + last.subarray(row * width, (row + 1) * width).reduce((sum, value, i) => sum + value * weight[k * width + i], 0)),
      );
      const found = model.head({ samples });
      close(found, logits.flat());
      assert.deepEqual(model.head({ samples }), found);
    }
    await refuses(() => model.head({ samples: new Float32Array(63) }), "length", "samples");
    await refuses(() => model.pool({ samples: [1, 2, 3] }), "option", "pool");
  });
}

test("types of tokens: a row for each, 0 by default", async () => {
  const model = await load("pairs");
  const [input] = model.description.inputs;
  assert.deepEqual([input.types, input.typeRows], ["token_type_ids", 2]);
  const input_ids = [3, 7, 1, 4, 9];
  const token_type_ids = [0, 0, 1, 1, 1];
  const sameRows = { input_ids: [3, 7, 21, 24, 29] };
  for (const name of ["pool", "head"]) close(model[name]({ input_ids, token_type_ids }), model[name](sameRows));
  const { last } = model.run({ input_ids, token_type_ids });
  close(last, model.run(sameRows).last);
  const zeros = model.run({ input_ids }).last; // the types of the last call are gone
  assert.deepEqual(model.run({ input_ids, token_type_ids: [0, 0, 0, 0, 0] }).last, zeros);
  assert.deepEqual(model.run({ input_ids, token_type_ids: undefined }).last, zeros);
  assert.ok(errorOf(last, zeros) > 0.01);
  await refuses(() => model.run({ input_ids, token_type_ids: [0, 1] }), "length", "token_type_ids");
  await refuses(() => model.run({ input_ids, token_type_ids: 3 }), "length", "token_type_ids");
  await refuses(() => model.run({ input_ids, token_type_ids: [0, 0, 0, 0, 2] }), "length", "token_type_ids[4]");
  await refuses(() => model.run({ token_type_ids }), "length", "input_ids");
  const gpt2 = await load("gpt2");
  await refuses(() => gpt2.run({ input_ids: [1], token_type_ids: [0] }), "option", "token_type_ids");
});

for (const variant of variantsOf("clip")) {
  test(`a model of two stacks computes the stack whose input is given, ${variant}`, async () => {
    const model = await load("clip", { variant });
    const { inputs, ...results } = recorded("clip");
    const { input_ids, pixel_values } = inputs;
    for (const [stack, given] of Object.entries({ text: { input_ids }, vision: { pixel_values } })) {
      const { last, rows, width } = model.run(given);
      close(last, results[`last_${stack}`]);
      assert.equal(rows * width, last.length);
      close(model.head(given), results[`answer_${stack}`]);
      assert.equal(model.pool(given).length, width);
    }
    await refuses(() => model.head(inputs), "option", "input", "pixel_values");
    await refuses(() => model.head({}), "option", "input_ids or pixel_values");
    await refuses(() => model.head(), "option", "input_ids or pixel_values");
    await refuses(() => model.head({ pixel_values: [1] }), "length", "pixel_values");
    await refuses(() => model.head({ input_ids: [24] }), "length", "input_ids[0]");
  });
}

test("the wrapper loads the files beside it, checks them, and has types", async () => {
  const { load: loadModel, sha256 } = await wrapperOf("gpt2");
  const { inputs, last } = recorded("gpt2");
  const seen = [];
  const model = await loadModel({ progress: (bytes, total) => seen.push([bytes, total]) });
  close(model.run(inputs).last, last);
  const size = weightsOf("gpt2").length;
  assert.deepEqual(seen.at(-1), [size, size]);
  assert.match(sha256, /^[0-9a-f]{64}$/);
  const folder = mkdtempSync(join(tmpdir(), "ladon-types-"));
  try {
    const program = (ids) =>
      `import { load } from ${JSON.stringify(fileOf("gpt2", ".js"))};\n` +
      `const model = await load({ variant: "simd" });\nconst { last } = model.run({ ${ids} });\nlast.length.toFixed();\n`;
    const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
    const check = (text) => {
      writeFileSync(join(folder, "main.mts"), text);
      const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom"];
      execFileSync(process.execPath, [tsc, ...options, join(folder, "main.mts")], { encoding: "utf8", stdio: "pipe" });
    };
    check(program("input_ids: [1, 2]"));
    assert.throws(() => check(program("ids: [1, 2]")), ({ stdout }) => /'ids' does not exist in type 'Inputs'/.test(stdout));
    assert.throws(() => check(program("input_ids: [1] }); model.pool({ input_ids: [1]")), ({ stdout }) => /'pool'/.test(stdout));
    const writer = (options) =>
      `import { load } from ${JSON.stringify(fileOf("t5", ".js"))};\n` +
      `import { Generator } from ${JSON.stringify(fileURLToPath(new URL("../dist/model.js", import.meta.url)))};\n` +
      `const model = await load();\nnew Generator(model);\nmodel.logits([0]${options});\n`;
    const clip = (ids) =>
      `import { load } from ${JSON.stringify(fileOf("clip", ".js"))};\nconst model = await load();\n` +
      `const vector: Float32Array = model.head({ pixel_values: [1] });\nmodel.run({ ${ids}: [1] }).last;\n`;
    check(clip("input_ids"));
    assert.throws(() => check(clip("ids")), ({ stdout }) => /'ids' does not exist/.test(stdout));
    check(writer(", { source: [1] }"));
    assert.throws(() => check(writer("")), ({ stdout }) => /Expected 2 arguments/.test(stdout));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("weights come as a stream in pieces of any size; another file is refused", async () => {
  const weights = weightsOf("gpt2");
  const { sha256 } = await wrapperOf("gpt2");
  const { inputs, last } = recorded("gpt2");
  for (const piece of [7919, 1e6]) {
    const model = await load("gpt2", { weights: streamOf(weights, piece), sha256 });
    close(model.run(inputs).last, last);
  }
  const changed = weights.slice();
  changed[1000] ^= 1;
  await refuses(() => load("gpt2", { weights: changed, sha256 }), "weights", "SHA-256");
  await refuses(() => load("gpt2", { weights: weights.subarray(0, -1) }), "weights");
  await refuses(() => load("gpt2", { weights: Buffer.concat([weights, Buffer.alloc(1)]) }), "weights", "more");
  await refuses(() => load("gpt2", { weights: weights.subarray(0, 40) }), "weights");
  await refuses(() => load("gpt2", { weights: new TextEncoder().encode("<!doctype html>".repeat(9)) }), "weights", "doctype");
  await refuses(() => load("gpt2", { weights: weightsOf("t5") }), "weights", "another model");
  await refuses(() => load("gpt2", { weights: "missing.weights" }), "network");
});

test("a signal ends a load", async () => {
  const stop = new AbortController();
  const weights = streamOf(weightsOf("gpt2"), 1000, (at) => at > 5000 && stop.abort("enough"));
  await refuses(() => load("gpt2", { weights, signal: stop.signal }), "aborted", "enough");
  await refuses(() => load("gpt2", { signal: AbortSignal.abort("before") }), "aborted", "before");
  await refuses(() => load("gpt2", { signal: 1 }), "option", "signal");
  await refuses(() => load("gpt2", { progress: 1 }), "option", "progress");
  const thrown = new Error("mine");
  const progress = () => {
    throw thrown;
  };
  await assert.rejects(() => load("gpt2", { progress }), thrown, "an error of a callback stays as it is");
});

test("wrong inputs and sources are refused, and the model stays usable", async () => {
  const model = await load("gpt2");
  const { inputs, last } = recorded("gpt2");
  await refuses(() => model.run({ input_ids: [] }), "length", "1 to 32");
  await refuses(() => model.run({ input_ids: new Array(33).fill(1) }), "length", "33");
  await refuses(() => model.run({ input_ids: [1, 24] }), "length", "input_ids[1]", "23");
  await refuses(() => model.run({ input_ids: [1.5] }), "length");
  await refuses(() => model.run({ input_ids: [1n] }), "length");
  await refuses(() => model.run({}), "length", "input_ids");
  await refuses(() => model.run([1, 2]), "option");
  await refuses(() => model.run(), "option");
  await refuses(() => model.run({ ...inputs, ids: [1] }), "option", "ids");
  await refuses(() => model.pool(inputs), "option", "pool");
  close(model.run(inputs).last, last);
  const classifier = await load("classifier");
  await refuses(() => classifier.head({ samples: [1, 2] }), "length", "frames of 3");
  await refuses(() => load("gpt2", { module: 1 }), "option", "module");
  await refuses(() => load("gpt2", { modules: "x" }), "option", "modules");
  await refuses(() => load("gpt2", { module: Uint8Array.of(1, 2) }), "not-a-module");
  await refuses(() => load("gpt2", { module: new URL("../dist/modules/date_reader", import.meta.url) }), "not-a-module", "kernel");
  await refuses(() => load("gpt2", { variant: "fast" }), "unsupported", "fast");
});
