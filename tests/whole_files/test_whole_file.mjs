// Tests bench/browser/whole_file.mjs, and the option --json of the programs that use whole_file.mjs.
import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync}
    from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {afterEach, beforeEach, test} from "node:test";
import {fileURLToPath} from "node:url";

import {checkReplaceable, replaceFile} from "../../bench/browser/whole_file.mjs";

let folder, file;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ladon-whole-file-"));
  file = join(folder, "figures");
  writeFileSync(file, "old");
});
afterEach(() => rmSync(folder, {recursive: true}));

test("a file is made and replaced, with its permissions", () => {
  replaceFile(join(folder, "made"), "é");
  assert.equal(readFileSync(join(folder, "made"), "utf8"), "é");
  chmodSync(file, 0o640);
  replaceFile(file, "new");
  assert.equal(readFileSync(file, "utf8"), "new");
  assert.equal(statSync(file).mode & 0o777, 0o640);
  assert.deepEqual(readdirSync(folder), ["figures", "made"]);
});

test("the file behind a link is replaced", () => {
  symlinkSync("figures", join(folder, "link"));
  replaceFile(join(folder, "link"), "new");
  assert.equal(readlinkSync(join(folder, "link")), "figures");
  assert.equal(readFileSync(file, "utf8"), "new");
});

test("a failure leaves the old content, and no other file", () => {
  assert.throws(() => replaceFile(file, Symbol("not a text")), TypeError);
  assert.throws(() => replaceFile(folder, "new"), /it is a folder/);
  assert.equal(readFileSync(file, "utf8"), "old");
  assert.deepEqual(readdirSync(folder), ["figures"]);
});

test("a check in advance changes nothing", () => {
  checkReplaceable(file, undefined, join(folder, "new"), "/dev/null");
  assert.equal(readFileSync(file, "utf8"), "old");
  assert.deepEqual(readdirSync(folder), ["figures"]);
});

for (const name of ["bench.mjs", "minilm/bench.mjs"]) {
  for (const option of ["--json", "--markdown"]) {
    test(`${name} ${option}: a file that cannot be written is refused before the measurements`, () => {
      const program = fileURLToPath(new URL(`../../bench/browser/${name}`, import.meta.url));
      const wrong = join(folder, "absent/figures");
      const command = [program, "--build", folder, option, wrong];
      const {status, stderr} = spawnSync(process.execPath, command, {encoding: "utf8"});
      assert.equal(status, 2, stderr);
      assert.match(stderr, /absent\/figures cannot be written: ENOENT/);
    });
  }
}
