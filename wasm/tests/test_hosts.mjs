// Runs the programs of examples/modules, which call a module without JavaScript. Python runs with wasmtime, and Go with
// wazero. LADON_HOSTS_PYTHON is a Python that has the package wasmtime.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { load } from "../dist/index.js";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const program = (name) => here(`../../examples/modules/${name}`);
const module = here("../dist/modules/attention_64_4.simd.wasm");

const filled = (count, scale) => Float32Array.from({ length: count }, (_, i) => scale * Math.sin(i));
const tensors = {
  in_proj_weight: filled(192 * 64, 0.1),
  in_proj_bias: filled(192, 1),
  "out_proj.weight": filled(64 * 64, 0.1),
  "out_proj.bias": filled(64, 1),
};
const x = filled(192, 1); // three tokens
let wanted; // y of x
before(async () => {
  const instance = (await load(module)).create({ mask: "causal" });
  instance.weights.set(tensors);
  wanted = Array.from(instance.run(x, { tokens: 3 }));
});

const folderOf = (t) => {
  const folder = mkdtempSync(join(tmpdir(), "ladon-hosts-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
};
const agrees = (y) => {
  assert.equal(y.length, wanted.length);
  y.forEach((value, i) => assert.ok(Math.abs(value - wanted[i]) < 1e-4, `y[${i}] is ${value}, not ${wanted[i]}`));
};

const python = process.env.LADON_HOSTS_PYTHON ?? here("../../build/hosts-venv/bin/python");
const skipWithoutPython = existsSync(python) ? false : `there is no ${python}`;

test("Python with wasmtime", { skip: skipWithoutPython }, () => {
  agrees(JSON.parse(execFileSync(python, [program("attend.py"), module], { encoding: "utf8" })));
});

const skipWithoutGo = spawnSync("go", ["version"]).error ? "there is no go" : false;

test("Go with wazero", { skip: skipWithoutGo, timeout: 400_000 }, (t) => {
  const folder = folderOf(t);
  for (const name of ["go.mod", "go.sum"]) cpSync(here(`hosts/${name}`), join(folder, name));
  cpSync(program("attend.go"), join(folder, "attend.go"));
  // An older Go than go.mod names cannot read go.mod, or looks for a newer one.
  const env = { ...process.env, GOFLAGS: "-mod=readonly", GOTOOLCHAIN: "local" };
  if (spawnSync("go", ["mod", "download"], { cwd: folder, env, timeout: 60_000 }).status !== 0) {
    t.skip("Go cannot download its modules");
    return;
  }
  const numbers = [...Object.values(tensors), x].map((one) => Buffer.from(one.buffer));
  writeFileSync(join(folder, "numbers.bin"), Buffer.concat(numbers));
  const told = execFileSync("go", ["run", "attend.go", module, "numbers.bin"], { cwd: folder, env, stdio: "pipe" });
  agrees(new Float32Array(told.buffer.slice(told.byteOffset, told.byteOffset + told.length)));
});
