// Tests the size, the version and the imports of the package. The package must ship exactly the kernels that
// modules.json lists.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { readCheckpointNames, readFusedNames } from "../tools/checkpoint-names.mjs";
import { findCycle, importsOfSource, reachedFrom } from "./imports.mjs";
import { frontEndName, moduleBytes, modules, shippedNames, variants } from "./kernels.mjs";

// The largest allowed sizes of core.js and index.js after gzip -9. A page needs only these two files and a module to run
// attention on PyTorch's tensors (test_consumers.mjs). src/weight-plan.ts, which finds places for tensors, takes 1.9 KB.
const mostBytes = { core: 12950, index: 1300 };

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const manifest = JSON.parse(read("../package.json"));

test("core.js is a small file that needs no other file, and index.js needs only core.js", (t) => {
  for (const [name, most] of Object.entries(mostBytes)) {
    const text = read(`../dist/${name}.js`);
    const size = gzipSync(text, { level: 9 }).length;
    t.diagnostic(`${name}.js: ${size} bytes gzipped`);
    assert.ok(size <= most, `${name}.js: ${size} bytes gzipped`);
    const imported = [...text.matchAll(/\bfrom\s*"([^"]*)"/g)].map(([, file]) => file);
    assert.deepEqual([...new Set(imported)], name === "core" ? [] : ["./core.js"], "static imports");
  }
  assert.doesNotMatch(read("../dist/core.js"), /modules\//, "core.js refers to no module");
});

test("each shipped attention kernel has an entry, which refers to its modules only", () => {
  const attentions = shippedNames.filter((name) => /^attention_\d+_\d+$/.test(name));
  const entries = Object.keys(manifest.exports).filter((name) => name.startsWith("./attention-"));
  assert.deepEqual(entries.sort(), attentions.map((name) => `./${name.replaceAll("_", "-")}`).sort());
  for (const name of attentions) {
    const entry = name.replaceAll("_", "-");
    const wanted = { types: `./dist/generated/${entry}.d.ts`, default: `./dist/${entry}.js` };
    assert.deepEqual(manifest.exports[`./${entry}`], wanted);
    read(`../dist/generated/${entry}.d.ts`);
    const found = [...read(`../dist/${entry}.js`).matchAll(/modules\/(\w+)\./g)].map(([, module]) => module);
    assert.deepEqual(found.sort(), shippedNames.filter((one) => [name, `${name}_int8`].includes(one)).sort());
  }
});

test("model.js and tokenizer.js are small, and the licence of the tokenizers is shipped", (t) => {
  for (const [name, most] of [["model", 8200], ["tokenizer", 14000]]) {
    const size = gzipSync(read(`../dist/${name}.js`), { level: 9 }).length;
    t.diagnostic(`${name}.js: ${size} bytes gzipped`);
    assert.ok(size <= most, `${name}.js: ${size} bytes gzipped`);
  }
  assert.match(read("../dist/LICENSE-tokenizers.txt"), /Apache License\s+Version 2\.0/);
});

test("the source has no import cycle", () => {
  const imports = importsOfSource();
  assert.ok(imports.get("core").includes("load"), "static imports are found");
  assert.ok(imports.get("instance").includes("safetensors"), "imports on demand are found");
  assert.ok(imports.get("types").includes("description"), "imports of types are found");
  assert.equal(findCycle(imports), undefined);
  imports.get("errors").push("load");
  assert.ok(findCycle(imports).includes("load"), "a cycle is found");
});

test("entries of single kernels load them, and ladon/core refuses names", async () => {
  const { load, LadonError } = await import("../dist/core.js");
  const index = await import("../dist/index.js");
  assert.equal(index.LadonError, LadonError);
  const { loadKernel } = await import("../dist/attention-384-12.js");
  assert.equal((await loadKernel()).description.name, "attention_384_12");
  assert.equal((await loadKernel({ precision: "int8" })).description.name, "attention_384_12_int8");
  await assert.rejects(loadKernel({ precision: "int9" }), { name: "LadonError", code: "option" });
  for (const source of ["attention_64_4", { kind: "attention", tokens: 3, model: 64, heads: 4 }]) {
    await assert.rejects(load(source), (error) => {
      assert.equal(error.code, "unknown-kernel");
      assert.match(error.message, /in ladon\/core: expected a module \(`load` of ladon takes names and sizes\)/);
      return true;
    });
  }
});

test("each model is an entry of its own, and index.js reaches no code and no module of a model", () => {
  const imports = importsOfSource();
  const core = reachedFrom(imports, "index");
  const ofModels = [...imports.keys()].filter((name) => /^(attention-rows|date-|keyword|microphone|minilm|model|tokenizer|weights-cache|word-)/.test(name));
  assert.ok(core.has("load") && core.has("relaxed-dot"), "static imports and imports on demand are followed");
  assert.deepEqual(ofModels.filter((name) => core.has(name)), []);
  const modulesIn = (name) => read(`../dist/${name}.js`).match(/modules\/\w+/g).map((path) => path.slice("modules/".length));
  assert.deepEqual(modulesIn("index"), ["attention_"], "index.js refers to attention modules only");
  for (const entry of ["model", "tokenizer"]) {
    assert.ok(ofModels.includes(entry), entry);
    assert.doesNotMatch(read(`../dist/${entry}.js`), /modules\//, `${entry}.js refers to no module`);
    assert.deepEqual(manifest.exports[`./${entry}`], { types: `./dist/${entry}.d.ts`, default: `./dist/${entry}.js` });
  }
  for (const model of ["date-reader", "keywords", "minilm"]) {
    for (const name of modulesIn(model)) assert.match(name, new RegExp(`^${model.replace("-", "_")}`));
    assert.ok(ofModels.includes(model) && reachedFrom(imports, model).has("core") && !reachedFrom(imports, model).has("index"), model);
    assert.deepEqual(manifest.exports[`./${model}`], { types: `./dist/${model}.d.ts`, default: `./dist/${model}.js` });
  }
});

test("the version equals the version of the headers", () => {
  const [major, minor, patch] = ["MAJOR", "MINOR", "PATCH"].map(
    (part) => new RegExp(`LADON_VERSION_${part} (\\d+)`).exec(read("../../include/ladon/version.hpp"))[1],
  );
  assert.equal(manifest.version, `${major}.${minor}.${patch}`);
  assert.equal(JSON.parse(read("../package-lock.json")).version, manifest.version);
});

test("the package has no dependencies, and the lock files name no registry", () => {
  assert.equal(manifest.dependencies, undefined);
  for (const file of ["../package-lock.json", "consumers/runtimes/package-lock.json", "engines/package-lock.json"]) {
    assert.doesNotMatch(read(file), /https?:\/\/registry|"resolved"/);
  }
});

test("only files.js imports modules of Node, and builds for browsers leave it out", () => {
  for (const name of readdirSync(new URL("../dist/", import.meta.url)).filter((name) => /\.js$/.test(name))) {
    const names = read(`../dist/${name}`).match(/["']node:\w+["']/g) ?? [];
    assert.deepEqual(names.length > 0, name === "files.js", `${name}: ${names}`);
  }
  // In builds for browsers, package.json replaces files.js by an empty file. It lists dist/files.js for users of the
  // package, and src/files.js for the demo page, which is built from src.
  assert.deepEqual(manifest.browser, { "./dist/files.js": false, "./src/files.js": false });
});

test("the shipped modules agree with the list", () => {
  const list = JSON.parse(read("../modules.json"));
  assert.deepEqual(shippedNames.slice().sort(), Object.keys(list).sort());
  const others = ["simd", "scalar"].map((variant) => `${frontEndName}.${variant}.wasm`);
  const wasm = readdirSync(modules).filter((name) => name.endsWith(".wasm"));
  const threaded = shippedNames.filter((name) => / THREADS\b/.test(list[name]));
  assert.deepEqual(threaded, ["minilm", "minilm_int8"]);
  assert.equal(wasm.length, 3 * shippedNames.length + 2 * threaded.length + others.length);
  for (const name of threaded) {
    const module = new WebAssembly.Module(moduleBytes(name, "simd.threads"));
    assert.deepEqual(WebAssembly.Module.imports(module), [{ module: "env", name: "memory", kind: "memory" }]);
    assert.ok(WebAssembly.Module.exports(module).some(({ name }) => name === "run_phase"));
  }
  const licence = readFileSync(new URL("LICENSE-kissfft.txt", modules), "utf8");
  assert.match(licence, /Mark Borgerding[^]*BSD 3-clause[^]*Redistribution/);
  for (const name of others) {
    const module = new WebAssembly.Module(readFileSync(new URL(name, modules)));
    assert.deepEqual(WebAssembly.Module.imports(module), [], name);
  }
  for (const name of shippedNames) {
    for (const variant of variants) {
      const bytes = moduleBytes(name, variant);
      if (!WebAssembly.validate(bytes)) continue; // a variant that this engine lacks
      const module = new WebAssembly.Module(bytes);
      const description = JSON.parse(new TextDecoder().decode(WebAssembly.Module.customSections(module, "ladon")[0]));
      assert.equal(description.name, name);
      assert.equal(description.variant, variant);
      assert.equal(description.version, manifest.version);
      assert.equal(description.arguments, list[name]);
      assert.deepEqual(WebAssembly.Module.imports(module), []);
      const [, model, heads] = /^attention_(\d+)_(\d+)$/.exec(name) ?? [];
      if (model) assert.deepEqual([512, +model, +heads], [description.queries, description.model, description.heads]);
    }
  }
});

test("the table of checkpoint names is read completely, or not at all", () => {
  const table = read("../../src/weights/checkpoint_names.cpp");
  const conventions = readCheckpointNames(table);
  assert.deepEqual(
    conventions.map(({ title, attention, cross }) => [title, attention, ...(cross ? [cross] : [])]),
    [
      ["PyTorch", "self_attn"],
      ["PyTorch", "self_attn", "multihead_attn"],
      ["Hugging Face BERT", "attention"],
      ["Hugging Face Llama", "self_attn"],
      ["Hugging Face BART", "self_attn"],
      ["Hugging Face BART", "self_attn", "encoder_attn"],
      ["Hugging Face CLIP", "self_attn"],
      ["Hugging Face ViT", "attention"],
      ["Hugging Face DistilBERT", "attention"],
      ["Hugging Face MPNet", "attention"],
      ["Hugging Face wav2vec 2.0", "attention"],
    ],
  );
  const [pytorch, , bert, llama, bart, bartDecoder, clip] = conventions;
  assert.deepEqual(pytorch.ofAttention[0], ["in_proj_weight", "in_proj_weight"]);
  assert.deepEqual(bert.ofLayer.at(-1), ["norm2_bias", "output.LayerNorm.beta"]);
  assert.deepEqual(bert.besideLayers, []);
  assert.deepEqual(llama.besideLayers[0], ["norm_weight", "norm.weight"]);
  assert.deepEqual(bart.besideLayers[0], ["norm_weight", "encoder.layer_norm.weight"]);
  assert.deepEqual(bartDecoder.besideLayers[0], ["norm_weight", "decoder.layer_norm.weight"]);
  assert.deepEqual(clip.besideLayers[0], ["norm_weight", "final_layer_norm.weight"]);
  const fused = readFusedNames(table);
  for (const name of ["qkv_proj", "query_key_value", "c_attn", "mlp.gate_up_proj"]) assert.ok(fused.includes(name), name);
  assert.ok(!fused.includes("mlp.fc1"), "only Moonshine's is fused");
  const names = conventions.flatMap(({ ofAttention }) => ofAttention).map(([, name]) => name);
  assert.ok(!names.includes("qkv_proj.weight"), "CodeGen orders the rows of its qkv_proj otherwise");
  const changes = [
    ['{"norm", "norm"}', 'Row("norm", "norm")'],
    ["bert_attention[] =", "bert_attention[8] ="],
    ["self_attn", 'self_attn", "layers'],
  ];
  for (const [from, to] of changes) {
    assert.ok(table.includes(from), from);
    assert.throws(() => readCheckpointNames(table.replace(from, to)), /checkpoint_names\.cpp/, to);
  }
});
