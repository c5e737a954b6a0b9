// Tests the code in README.md. Runs the blocks of JavaScript that have a name, such as `<!-- attention.mjs -->`. Also
// builds the kernel of the section about kernels of your own shapes: in a new folder with a link to the library, runs
// the command of the section with its CMakeLists.txt. Then loads the module.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { load } from "../dist/index.js";
import { samplesOf, skipWithoutRecordings, weights } from "./keywords_files.mjs";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const [, lists] = /```cmake\n([^`]+)```/.exec(readme);
const [, command] = /```sh\n(emcmake .+)\n```/.exec(readme);
const [call] = /^ladon_add_kernel\(.+\)$/m.exec(lists);
const skip = spawnSync("emcmake", ["--help"]).error ? "no Emscripten" : false;

test("a kernel of another shape", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "ladon-"));
  t.after(() => rmSync(folder, { recursive: true }));
  symlinkSync(fileURLToPath(new URL("../..", import.meta.url)), join(folder, "ladon"));
  writeFileSync(join(folder, "CMakeLists.txt"), lists);
  execFileSync("sh", ["-c", command], { cwd: folder, stdio: "pipe" });
  const { description } = await load(join(folder, "build/keyword_attention"), { variant: "scalar" });
  assert.equal(`ladon_add_kernel(keyword_attention ${description.arguments})`, call);
});

test("for a kernel that is not shipped, load proposes this call with other sizes", async () => {
  const sizes = /QUERIES \d+ MODEL \d+ HEADS \d+/;
  const error = await load({ kind: "attention", tokens: 100, model: 320, heads: 5 }).catch((error) => error);
  const [proposed] = /ladon_add_kernel\([^)]+\)/.exec(error.message);
  assert.match(proposed, /QUERIES 100 MODEL 320 HEADS 5/);
  assert.equal(proposed.replace("attention_320_5", "keyword_attention").replace(sizes, ""), call.replace(sizes, ""));
  assert.ok(error.message.includes(command), error.message);
});

/** Returns the block of code in README.md that follows the line `<!-- name -->`. */
const codeOf = (name) => new RegExp(`<!-- ${name.replace(".", "\\.")} -->\n\`\`\`\\w+\n([^\`]+)\`\`\``).exec(readme)[1];

/**
 * Runs a module that consists of the text `before`, some blocks of JavaScript of README.md, and the text `after`. If a
 * line of a block is "VALUE; // EXPECTED", asserts that the value is the expected value. Returns the number of these
 * assertions.
 */
const runCode = async (t, names, before, after = "") => {
  const folder = mkdtempSync(join(tmpdir(), "ladon-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const code = names
    .map(codeOf)
    .join("\n")
    .replace(/"ladon(?:\/([\w-]+))?"/g, (_, entry) => JSON.stringify(new URL(`../dist/${entry ?? "index"}.js`, import.meta.url)))
    .replace(/^([\w.()", \[\]\d]+); +\/\/ (\{.+\}|"[^"]*"|\d+)$/gm, "assert.deepEqual($1, $2);")
    .replace(/^([\w.]+); +\/\/ (\d), or (\d) .*$/gm, "assert.ok([$2, $3].includes($1));");
  writeFileSync(join(folder, "code.mjs"), `import assert from "node:assert/strict";\n${before}\n${code}\n${after}`);
  await import(pathToFileURL(join(folder, "code.mjs")));
  return code.match(/assert\./g)?.length ?? 0;
};

const tensors = `const [in_proj_weight, in_proj_bias, weight, bias, x] =
  [3 * 384 * 384, 3 * 384, 384 * 384, 384, 20 * 384].map((size) => Float32Array.from({ length: size }, (_, i) => Math.sin(i) / 20));`;

test("attention, and its description", async (t) => {
  const after = `assert.equal(y.length, 20 * 384);
assert.ok(y.every(Number.isFinite) && y.some((value) => value !== 0));
const error = (() => { try { attention.run(x.subarray(1), { tokens: 20 }); } catch (error) { return error; } })();
assert.equal(String(error), ${JSON.stringify(codeOf("error.txt").trim())});`;
  assert.equal(await runCode(t, ["attention.mjs", "description.mjs"], tensors, after), 2);
});

test("the date reader", async (t) => assert.equal(await runCode(t, ["date-reader.mjs"], ""), 1));

test("the keyword spotter", { skip: skipWithoutRecordings }, async (t) => {
  const given = `import { pathToFileURL } from "node:url";
const weights = pathToFileURL(${JSON.stringify(weights)});
const samples = Float32Array.from(${JSON.stringify(Array.from(samplesOf("yes")))});`;
  const after = `assert.ok(probability > 0.85 && attention.length === 12);`;
  assert.equal(await runCode(t, ["keywords.mjs"], given, after), 1);
});

test("an int8 kernel", async (t) => assert.equal(await runCode(t, ["int8.mjs"], ""), 2));

const cacheKernel = new URL("kernels/modules/odd_cache.scalar.wasm", import.meta.url);
const skipWithoutCache = existsSync(cacheKernel) ? false : "no wasm/tests/kernels/modules";

test("generation with a cache", { skip: skipWithoutCache }, async (t) => {
  const before = `import { load } from "ladon";
const kernel = await load(new URL(${JSON.stringify(cacheKernel)}));
const { model } = kernel.description;
const numbers = (count) => Float32Array.from({ length: count }, (_, i) => Math.sin(i));
const weights = Object.fromEntries(kernel.description.weights.map(({ name, shape }) => [name, numbers(shape.reduce((a, b) => a * b))]));
const [prompt, chosen] = [numbers(3 * model), []];
const choose = (row) => (chosen.push(row), chosen.length), embed = (id) => numbers(model).fill(id);`;
  const after = `assert.equal(text.cached, 0);
assert.deepEqual(chosen.map((row) => row.length), [model, model, model]);
assert.ok([...chosen, last].every((row) => row.every(Number.isFinite)));`;
  assert.equal(await runCode(t, ["generation.mjs"], before.replace('"ladon"', JSON.stringify(new URL("../dist/index.js", import.meta.url))), after), 1);
});

test("a decoder with a cache", { skip: skipWithoutCache }, async (t) => {
  const before = `import { load } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url))};
const decoder = await load(new URL(${JSON.stringify(new URL("kernels/modules/decoder_cache.scalar.wasm", import.meta.url))}));
const { model, layers, layer } = decoder.description;
const numbers = (count) => Float32Array.from({ length: count }, (_, i) => Math.sin(i));
const names = [...Array(layers).keys()].flatMap((i) => layer.map(({ name, shape }) => ["layers." + i + "." + name, shape]));
const weights = Object.fromEntries(names.map(([name, shape]) => [name, numbers(shape.reduce((a, b) => a * b))]));
const [start, encoded, chosen] = [numbers(model), numbers(5 * model), []];
const choose = (row) => (chosen.push(row), chosen.length), embed = (id) => numbers(model).fill(id);`;
  const after = `assert.equal(translation.cached, 0);
assert.deepEqual(chosen.map((row) => row.length), [model, model, model]);
assert.ok([...chosen, row].every((one) => one.every(Number.isFinite)));
translation.run(start, { tokens: 1 });`;
  await runCode(t, ["decoder.mjs"], before, after);
});

// The data are laid out as ladon-weights lays them out for the kernel date_reader. Number i of the data is i.
test("tensors that ladon-weights packs", async (t) => {
  const before = `import { loadKernel } from ${JSON.stringify(new URL("../dist/date-reader.js", import.meta.url))};
const kernel = await loadKernel({ variant: "scalar" });
const instance = kernel.create();
const data = Float32Array.from({ length: 65536 }, (_, i) => i).buffer;`;
  const after = `const [heads_, first, second] = spec.split("\\n");
assert.deepEqual([heads_, first], ["kv_heads 4", "layers.0.attention.in_proj_weight 48+48+48 48"]);
assert.equal(second, "layers.0.attention.in_proj_bias 48+48+48");
assert.equal(instance.weights.tensor("layers.0.attention.in_proj_bias")[0], 48 * 144);
assert.equal(tensors.length, 26);`;
  await runCode(t, ["packed.mjs"], before, after);
});
