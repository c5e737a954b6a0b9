// Compares MiniLM in TypeScript with embeddings and attention that another implementation computed in float64.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import "../engine/relaxed_simd.mjs";
import { LadonError } from "../dist/index.js";
import { SentenceEncoder, similarity } from "../dist/minilm.js";
import { int8Checkpoint } from "./int8_checkpoint.mjs";
import { conformance, model, skipWithoutConformance, skipWithoutModel } from "./minilm_files.mjs";
import { fileOf, headerOf } from "./safetensors.mjs";

let encoder;
let expected;
const seen = { progress: [] };
before(async () => {
  if (!model) return;
  encoder = await SentenceEncoder.load({
    weights: pathToFileURL(model.weights),
    vocabulary: pathToFileURL(model.vocabulary),
    progress: (bytes, total) => seen.progress.push([bytes, total]),
  });
  if (conformance) expected = JSON.parse(readFileSync(conformance, "utf8"));
});
after(() => encoder?.free());

const furthest = (a, b) => a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);

test("ids and pieces of every conformance text", { skip: skipWithoutConformance }, () => {
  for (const { text, ids } of [...expected.cases, ...expected.tokenizer]) {
    assert.deepEqual(encoder.ids(text), ids, JSON.stringify(text));
  }
  for (const { text, tokens } of expected.cases) assert.deepEqual(encoder.tokens(text), tokens);
  assert.ok(expected.cases.length + expected.tokenizer.length > 30);
});

test("embeddings of every conformance text, and their cosines", { skip: skipWithoutConformance }, (t) => {
  const { embedding_abs: bound, similarity_abs: cosineBound } = expected.tolerance_float32;
  const embeddings = expected.cases.map(({ text }) => encoder.embed(text));
  const worst = Math.max(...expected.cases.map(({ embedding }, i) => furthest(embedding, embeddings[i])));
  t.diagnostic(`largest difference of an embedding: ${worst}`);
  assert.ok(worst < bound, `${worst}`);
  for (const { a, b, cosine } of expected.pairs) {
    assert.ok(Math.abs(similarity(embeddings[a], embeddings[b]) - cosine) < cosineBound);
  }
  for (const embedding of embeddings) assert.ok(Math.abs(similarity(embedding, embedding) - 1) < 1e-6);
});

test("the attention of 'it', in all heads", { skip: skipWithoutConformance }, () => {
  const [{ text, attention, embedding }] = expected.cases;
  assert.ok(furthest(embedding, encoder.embed(text, { attention: true })) < expected.tolerance_float32.embedding_abs);
  attention.layers.forEach((heads, layer) =>
    heads.forEach((row, head) => {
      const found = encoder.attention(layer, head)[attention.row];
      assert.equal(found.length, row.length);
      assert.ok(furthest(row, found) < expected.tolerance_float32.attention_abs, `layer ${layer}, head ${head}`);
    }),
  );
  assert.throws(
    () => encoder.attention(6, 0),
    (error) => error instanceof LadonError && error.code === "attention",
  );
});

test("the embeddings that the page has beforehand", { skip: skipWithoutModel }, () => {
  const text = readFileSync(new URL("../demo/example-embeddings.ts", import.meta.url), "utf8");
  const listOf = (name) => JSON.parse(text.split(`${name}: readonly string[] = `)[1].split(";\n")[0].replace(/,\n]/, "]"));
  const texts = [...listOf("sentences"), ...listOf("questions")];
  const directions = listOf("directions");
  assert.ok(texts.length === directions.length && texts.length > 10);
  texts.forEach((text, i) => {
    const integers = new Int8Array(Buffer.from(directions[i], "base64"));
    const length = Math.hypot(...integers);
    const cosine = similarity(encoder.embed(text), Float32Array.from(integers, (value) => value / length));
    assert.ok(cosine > 0.9995, `${text}: ${cosine}`);
  });
});

test("the longest text that the model reads, and a longer text", { skip: skipWithoutModel }, () => {
  const long = "a ".repeat(300);
  assert.equal(encoder.ids(long).length, encoder.maxTokens);
  assert.deepEqual(encoder.embed(long), encoder.embed(`${long} and more`));
});

test("progress reaches the end of the file", { skip: skipWithoutModel }, () => {
  const { length } = readFileSync(model.weights);
  assert.ok(seen.progress.length > 10);
  assert.ok(seen.progress.every(([bytes, total], i) => total === length && bytes > (seen.progress[i - 1]?.[0] ?? 0)));
  assert.equal(seen.progress.at(-1)[0], length);
});

test("an invalid vocabulary and invalid weights are refused", { skip: skipWithoutModel }, async () => {
  const isAbout = (code) => (error) => error instanceof LadonError && error.code === code;
  const vocabulary = new Blob(["[UNK]\n[CLS]\n[SEP]\n"]);
  await assert.rejects(SentenceEncoder.load({ weights: new Blob(["none"]), vocabulary }), isAbout("weights"));
  await assert.rejects(
    SentenceEncoder.load({ weights: new Blob(), vocabulary: new Blob(["a\n"]) }),
    isAbout("weights"),
  );
  const tooMany = new Blob([Array.from({ length: 40000 }, (_, i) => `word${i}\n`).join(""), "[UNK]\n[CLS]\n[SEP]\n"]);
  await assert.rejects(
    SentenceEncoder.load({ weights: pathToFileURL(model.weights), vocabulary: tooMany }),
    isAbout("length"),
  );
});

const lines = readFileSync(new URL("../../tests/data/sentences.txt", import.meta.url), "utf8").trim().split("\n");
// By default, the tests embed 24 of the 256 sentences. With LADON_SENTENCES=256, the tests embed all sentences.
const count = Number(process.env.LADON_SENTENCES ?? 24);
const sentences = lines.filter((_, i) => i % Math.floor(lines.length / count) === 0);
let embeddings;
/** Returns the mean cosine between the embeddings of `int8` and those of the float32 model. */
const meanCosine = (int8) => {
  embeddings ??= sentences.map((text) => encoder.embed(text));
  return embeddings.reduce((sum, one, i) => sum + similarity(one, int8.embed(sentences[i])), 0) / sentences.length;
};
const memoryOf = ({ encoder }) => encoder.weights.tensor("embeddings.LayerNorm.bias").buffer.byteLength;

for (const [activationBits, least] of [
  [8, 0.998],
  [7, 0.994],
]) {
  test(`int8 with activations of ${activationBits} bits, from the float32 file`, { skip: skipWithoutModel }, async (t) => {
    const { weights, vocabulary } = model;
    const options = { precision: "int8", variant: "simd", activationBits };
    const int8 = await SentenceEncoder.load({ weights, vocabulary, ...options });
    assert.equal(int8.kernel.description.activationBits, activationBits);
    assert.ok(int8.encoder.weights.tensor("encoder.layer.0.output.dense.weight", "int8").length === 384 * 1536);
    const cosine = meanCosine(int8);
    t.diagnostic(`mean cosine ${cosine}, ${memoryOf(int8)} bytes of memory`);
    assert.ok(cosine >= least, `${cosine}`);
    int8.free();
  });
}

test("int8 from one file with int8 embeddings", { skip: skipWithoutModel }, async (t) => {
  const file = int8Checkpoint(readFileSync(model.weights));
  assert.ok(file.length <= 24e6, `${file.length} bytes`);
  const int8 = await SentenceEncoder.load({ weights: file, vocabulary: model.vocabulary, precision: "int8" });
  const { variant, description } = int8.kernel;
  const cosine = meanCosine(int8);
  t.diagnostic(`${variant}, ${description.activationBits} bits: mean cosine ${cosine}; file ${file.length} bytes, memory ${memoryOf(int8)}`);
  assert.ok(cosine >= (description.activationBits === 8 ? 0.998 : 0.994), `${cosine}`);
  int8.free();
  // Without `precision: "int8"`, the kernel has float32 weights and must reject the int8 file.
  const refused = SentenceEncoder.load({ weights: file, vocabulary: model.vocabulary });
  await assert.rejects(refused, { code: "weights", message: /PRECISION int8/ });
  // Renames the scales of the embeddings, so that the file lacks these scales.
  const { header, data } = headerOf(file);
  const { dtype, shape, data_offsets } = header["embeddings.word_embeddings.weight_scale"];
  delete header["embeddings.word_embeddings.weight_scale"];
  const lacking = fileOf(JSON.stringify({ ...header, other: { dtype, shape, data_offsets } }), data);
  const load = SentenceEncoder.load({ weights: lacking, vocabulary: model.vocabulary, precision: "int8" });
  await assert.rejects(load, { code: "weights", message: /word_embeddings\.weight_scale/ });
});
