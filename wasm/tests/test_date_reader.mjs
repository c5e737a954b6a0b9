// Tests the date reader in TypeScript, with the cases of examples/date_reader/tests.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { before, test } from "node:test";
import "../engine/relaxed_simd.mjs";
import { DateReader, loadKernel } from "../dist/date-reader.js";
import { LadonError, load } from "../dist/index.js";

const heldOut = readFileSync(new URL("../../tests/data/dates_held_out.tsv", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => line.split("\t"));

let reader;
before(async () => {
  reader = await DateReader.load();
});

const dateIn = (text) => reader.read(text, { attention: false }).date;

test("the accuracy on the held-out set equals that of the native reader", () => {
  let [dates, right, others, taken] = [0, 0, 0, 0];
  for (const [text, iso] of heldOut) {
    const date = dateIn(text);
    if (iso) {
      ++dates;
      if (date === iso) ++right;
    } else {
      ++others;
      if (date) ++taken;
    }
  }
  assert.equal(heldOut.length, 4000);
  assert.equal(((100 * right) / dates).toFixed(2), "99.76");
  assert.equal(((100 * taken) / others).toFixed(2), "0.62");
});

// The SHA-256 of the answers of the C++ program, which are the output of `cut -f1 tests/data/dates_held_out.tsv | ./dev
// run date_reader --batch -`. The answers of the package must have the same SHA-256.
const nativeAnswers = "60bab91f1d80779f3bfb21987ce87cb9b7b63c5a9c31e3b64b3a033277e30619";

for (const variant of ["relaxed", "simd", "scalar"]) {
  test(`each answer equals that of the native reader: ${variant}`, async (t) => {
    const kernel = await loadKernel({ variant }).catch((error) => {
      assert.equal(error.code, "unsupported");
    });
    if (!kernel) return t.skip("this engine lacks the instructions");
    const one = await DateReader.load({ kernel });
    const answers = heldOut.map(([text]) => `${one.read(text, { attention: false }).date ?? ""}\n`);
    assert.equal(createHash("sha256").update(answers.join("")).digest("hex"), nativeAnswers);
    one.free();
  });
}

test("every form", () => {
  const forms = [
    "3 February 2024",
    "February 3 2024",
    "the 3rd of February, 2024",
    "3rd of Feb, 2024",
    "Saturday, 3 Feb 2024",
    "2024-02-03",
    "2024/2/3",
    "20240203",
    "3.2.2024",
    "2/3/24",
    "3 feb '24",
    "  THE  3RD OF   february 2024 ",
  ];
  for (const text of forms) assert.equal(dateIn(text), "2024-02-03", text);
  assert.equal(dateIn("31.12.68"), "2068-12-31");
  assert.equal(dateIn("12/31/69"), "1969-12-31");
});

test("the calendar, and texts that are no dates", () => {
  for (const text of ["2024-02-29", "2000-02-29", "1000-01-01", "2999-12-31", "2023-04-30"]) {
    assert.equal(dateIn(text), text);
  }
  for (const text of [
    "2023-02-29",
    "1900-02-29",
    "0999-12-31",
    "3000-01-01",
    "2023-13-10",
    "192.168.0.1",
    "march on",
  ]) {
    const reading = reader.read(text);
    assert.equal(reading.date, null, text);
    assert.equal(reading.status, "no-date", text);
  }
});

test("texts that cannot be a date", () => {
  const statusOf = (text) => reader.read(text).status;
  assert.equal(statusOf(""), "empty");
  assert.equal(statusOf(" \t\r\n "), "empty");
  assert.equal(statusOf("a".repeat(41)), "too-long");
  assert.equal(statusOf(`${"a".repeat(39)} b`), "too-long");
  assert.equal(statusOf("3 f\u00e9vrier 2024"), "not-ascii");
  assert.equal(statusOf(`${"a".repeat(100)}\u00ff`), "not-ascii");
  assert.equal(statusOf("\0"), "no-date");
  assert.deepEqual(reader.read("").digits, []);
  assert.equal(reader.read(`  ${"a".repeat(38)}    b  `).characters.join(""), `${"a".repeat(38)} b`);
});

test("attention: rows sum to 1, the last layer's first head points, and readings keep their attention", () => {
  const reading = reader.read("3rd of Feb, 2024");
  const before = reading.attention(1, 0).map((row) => [...row]);
  for (let layer = 0; layer < reader.layers; ++layer) {
    for (let head = 0; head < reader.heads; ++head) {
      const text = reading.attention(layer, head);
      const digits = reading.attentionToDigits(layer, head);
      assert.equal(text.length, 8);
      text.forEach((row, slot) => {
        assert.equal(row.length, reading.characters.length);
        const sum = [...row, ...digits[slot]].reduce((a, b) => a + b);
        assert.ok(Math.abs(sum - 1) < 1e-5, `${sum}`);
      });
    }
  }
  // The digits of the year attend to the year in the text.
  before.slice(0, 4).forEach((row, slot) => assert.equal(row.indexOf(Math.max(...row)), 12 + slot));
  reader.read("31.12.1968");
  assert.deepEqual(
    reading.attention(1, 0).map((row) => [...row]),
    before,
  );
  assert.deepEqual(reading.digits, [2, 0, 2, 4, 0, 2, 0, 3]);
  assert.ok(reading.certainty.every((share) => share >= 0.7 && share <= 1));
});

test("errors are LadonErrors", async () => {
  const isAbout = (code) => (error) => error instanceof LadonError && error.code === code;
  assert.throws(() => reader.read("5 may 2001").attention(2, 0), isAbout("attention"));
  assert.throws(() => reader.read("5 may 2001", { attention: false }).attention(0, 0), isAbout("attention"));
  assert.throws(() => reader.read("").attention(0, 0), isAbout("attention"));
  await assert.rejects(
    DateReader.load({ weights: new URL("absent.safetensors", import.meta.url) }),
    isAbout("network"),
  );
  const freed = await DateReader.load({ kernel: await loadKernel() });
  freed.free();
  assert.throws(() => freed.read("5 may 2001"), isAbout("closed"));
});
