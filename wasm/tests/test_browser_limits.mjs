// Tests that a browser that ends, hangs or does not exist ends the tests of ./dev test --browsers.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { startProgram, within } from "./browsers/program.mjs";

const shell = (script) => startProgram("sh", () => ["-c", script]);

test("a program that ends rejects the waits for it", { timeout: 20_000 }, async () => {
  const program = shell("echo begun; sleep 0.2; echo crash >&2; exit 3");
  await program.said(/begun/);
  await assert.rejects(program.said(/ready/), /ended with 3: begun\ncrash/);
  await assert.rejects(within(Promise.race([new Promise(() => undefined), program.failed]), "a command"), /ended with 3/);
  await program.stop();
  assert.ok(!existsSync(program.home));
});

test("a program that hangs is ended with its children", { timeout: 20_000 }, async () => {
  const program = shell("sleep 1000 & echo child; wait");
  await program.said(/child/);
  await assert.rejects(within(new Promise(() => undefined), "an answer", 20), /an answer: no answer in 0.02 s/);
  // The child keeps the pipe of the output open, and `stop` waits 10 s for the end of this pipe.
  const start = Date.now();
  await program.stop();
  assert.ok(Date.now() - start < 8000);
});

test("a program that does not exist", { timeout: 20_000 }, async () => {
  const program = startProgram("/nowhere/browser", () => []);
  await assert.rejects(program.said(/ready/), { code: "ENOENT" });
  await program.stop();
});
