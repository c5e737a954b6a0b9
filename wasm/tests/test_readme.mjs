// What README.md says about kernels of other shapes, done literally: its CMakeLists.txt beside a copy of the library,
// its command, and the module in the binding.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { load } from "../dist/index.js";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const [, lists] = /```cmake\n([^`]+)```/.exec(readme);
const [, command] = /^ {4}(emcmake .+)$/m.exec(readme);
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

test("what load proposes where no kernel is shipped is that call, with other sizes", async () => {
  const sizes = /QUERIES \d+ MODEL \d+ HEADS \d+/;
  const error = await load({ kind: "attention", tokens: 100, model: 320, heads: 5 }).catch((error) => error);
  const [proposed] = /ladon_add_kernel\([^)]+\)/.exec(error.message);
  assert.match(proposed, /QUERIES 100 MODEL 320 HEADS 5/);
  assert.equal(proposed.replace("attention_320_5", "keyword_attention").replace(sizes, ""), call.replace(sizes, ""));
  assert.ok(error.message.includes(command), error.message);
});
