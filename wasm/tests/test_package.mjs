// The package as such: what it weighs, what it says of itself, and that the shipped modules are what the catalog says.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { moduleBytes, modules, shippedNames, variants } from "./kernels.mjs";

// gzip -9. test_consumers.mjs shows that beside a module a page needs no more to run attention on PyTorch's tensors.
const mostBytes = 3072;

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const manifest = JSON.parse(read("../package.json"));

test("index.js is a small file that needs no other", (t) => {
  const text = read("../dist/index.js");
  const size = gzipSync(text, { level: 9 }).length;
  t.diagnostic(`${size} bytes gzipped`);
  assert.ok(size <= mostBytes, `${size} bytes gzipped`);
  assert.doesNotMatch(text, /\bfrom\s*"/, "a static import");
});

test("the version is that of the headers", () => {
  const [major, minor, patch] = ["MAJOR", "MINOR", "PATCH"].map(
    (part) => new RegExp(`LADON_VERSION_${part} (\\d+)`).exec(read("../../include/ladon/version.hpp"))[1],
  );
  assert.equal(manifest.version, `${major}.${minor}.${patch}`);
  assert.equal(JSON.parse(read("../package-lock.json")).version, manifest.version);
});

test("nothing is needed at run time, and the lock file names no registry", () => {
  assert.equal(manifest.dependencies, undefined);
  assert.doesNotMatch(read("../package-lock.json"), /https?:\/\/registry|"resolved"/);
});

test("the shipped modules are those of the catalog", () => {
  const attentions = ["64_4", "128_4", "256_8", "384_12", "512_8", "768_12"].map((sizes) => `attention_${sizes}`);
  assert.deepEqual(shippedNames.slice().sort(), [...attentions, "date_reader", "minilm"].sort());
  assert.equal(readdirSync(modules).length, 3 * shippedNames.length);
  for (const name of shippedNames) {
    for (const variant of variants) {
      const bytes = moduleBytes(name, variant);
      if (!WebAssembly.validate(bytes)) continue; // of a variant that this engine lacks
      const module = new WebAssembly.Module(bytes);
      const description = JSON.parse(new TextDecoder().decode(WebAssembly.Module.customSections(module, "ladon")[0]));
      assert.equal(description.name, name);
      assert.equal(description.variant, variant);
      assert.equal(description.version, manifest.version);
      assert.deepEqual(WebAssembly.Module.imports(module), []);
      const [, model, heads] = /^attention_(\d+)_(\d+)$/.exec(name) ?? [];
      if (model) assert.deepEqual([512, +model, +heads], [description.queries, description.model, description.heads]);
    }
  }
});
