// Tests generation: sampling, the end of a text, abort, and the stories of llama2.c.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Generator, Model } from "../dist/model.js";
import { Tokenizer } from "../dist/tokenizer.js";
import { skipWithoutStories, stories } from "./models/imported.mjs";
import { refuses } from "./refuses.mjs";

const words = ["<s>", "</s>", "a", "b", "c", "\u00e9"];

/** A model of six tokens. After token i, the likeliest token is i + 1, and the next one i + 2. */
const counting = (most = 8) => ({
  description: {
    name: "counting",
    inputs: [{ name: "input_ids", kind: "ids", most, fixed: false, width: 1, rows: 6 }],
    functions: [{ name: "head", result: "answer", most: 1, width: 6, hasRows: false }],
  },
  head: ({ input_ids: ids }) => {
    const logits = new Float32Array(6);
    logits[(ids.at(-1) + 1) % 6] = 2;
    logits[(ids.at(-1) + 2) % 6] = 1;
    return logits;
  },
});
const idsOf = async (tokens) => {
  const ids = [];
  for await (const { id } of tokens) ids.push(id);
  return ids;
};

test("greedy: ends after `tokens`, at a token of eos, and where the model has no room", async () => {
  const generator = new Generator(counting());
  assert.deepEqual(await idsOf(generator.generate([2], { tokens: 3 })), [3, 4, 5]);
  assert.deepEqual(await idsOf(generator.generate([2], { tokens: 0 })), []);
  assert.deepEqual(await idsOf(generator.generate([2])), [3, 4, 5, 0, 1, 2, 3]);
  assert.deepEqual(await idsOf(new Generator(counting(), { eos: [5, 1] }).generate([2])), [3, 4]);
});

test("sampling: seeds, top-k, top-p and the temperature have their effects", async () => {
  const generator = new Generator(counting(4000));
  const sample = (options) => idsOf(generator.generate([2], { tokens: 300, seed: 1, ...options }));
  const stepsOf = (ids) => ids.map((id, i) => (id - (ids[i - 1] ?? 2) + 6) % 6);
  const shares = (ids) => [1, 2].map((step) => stepsOf(ids).filter((one) => one === step).length / ids.length);
  assert.deepEqual(await sample({ temperature: 1 }), await sample({ temperature: 1 }));
  assert.notDeepEqual(await sample({ temperature: 1 }), await sample({ temperature: 1, seed: 2 }));
  // The probabilities: e^2, e and 4 times 1, divided by their sum. The standard deviation of a share is below 0.03.
  const sum = Math.exp(2) + Math.exp(1) + 4;
  const [first, second] = shares(await sample({ temperature: 1 }));
  assert.ok(Math.abs(first - Math.exp(2) / sum) < 0.1 && Math.abs(second - Math.exp(1) / sum) < 0.1, `${first} ${second}`);
  assert.ok(shares(await sample({ temperature: 0.3 }))[0] > 0.9);
  assert.ok(shares(await sample({ temperature: 30 }))[0] < 0.3);
  assert.deepEqual(shares(await sample({ temperature: 1, topK: 1 })), [1, 0]);
  assert.equal(shares(await sample({ temperature: 30, topK: 2 })).reduce((a, b) => a + b), 1);
  assert.equal(shares(await sample({ temperature: 1, topP: 0.6 })).reduce((a, b) => a + b), 1);
  assert.deepEqual(shares(await sample({ temperature: 1, topP: 0.1 })), [1, 0]);
});

test("a signal ends a generation, also between two tokens, and the page can handle events meanwhile", async () => {
  const stop = new AbortController();
  const slow = { ...counting(4000), head: (inputs) => (Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5), counting().head(inputs)) };
  setTimeout(() => stop.abort("enough"), 40);
  await refuses(() => idsOf(new Generator(slow).generate([2], { signal: stop.signal })), "aborted", "enough");
  await refuses(() => idsOf(new Generator(slow).generate([2], { signal: AbortSignal.abort("before") })), "aborted");
});

test("wrong models, prompts and options are refused", async () => {
  const generator = new Generator(counting());
  for (const options of [{ temperature: -1 }, { temperature: NaN }, { topP: 0 }, { topP: 2 }, { temperatur: 1 }, { signal: 1 }]) {
    await refuses(() => idsOf(generator.generate([2], options)), "option");
  }
  for (const options of [{ topK: 0 }, { seed: -1 }, { tokens: 1.5 }]) {
    await refuses(() => idsOf(generator.generate([2], options)), "length");
  }
  await refuses(() => idsOf(generator.generate("a text")), "option", "no tokenizer");
  await refuses(() => idsOf(generator.generate(5)), "option", "prompt");
  await refuses(() => new Generator({ description: { ...counting().description, functions: [] } }), "option", "logits");
});

test("a tokenizer: texts in and out", async () => {
  const vocab = Object.fromEntries(words.map((word, id) => [word, id]));
  const tokenizer = Tokenizer.from({
    version: "1.0",
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: { type: "Whitespace" },
    post_processor: null,
    decoder: null,
    model: { type: "WordPiece", vocab, unk_token: "<s>", continuing_subword_prefix: "##", max_input_chars_per_word: 10 },
  });
  assert.deepEqual(tokenizer.encode("a b \u00e9"), [2, 3, 5]);
  assert.equal(tokenizer.token(2), "a");
  assert.equal(tokenizer.token(99), undefined);
  const texts = [];
  for await (const { text } of new Generator(counting(), { tokenizer }).generate("a", { tokens: 2 })) texts.push(text);
  assert.equal(`a${texts.join("")}`, tokenizer.decode([2, 3, 4]));
  await refuses(() => tokenizer.encode(5), "option", "text");
  await refuses(() => Tokenizer.load(new TextEncoder().encode("{")), "option", "tokenizer.json");
  await refuses(() => Tokenizer.load(new TextEncoder().encode("[]")), "option");
  await refuses(() => Tokenizer.load(new TextEncoder().encode('{"model":{"type":"none"}}')), "option");
  await refuses(() => Tokenizer.load("missing/tokenizer.json"), "network");
});

const expected = new URL("../../../shared/conformance/stories260K.json", import.meta.url);
const skip = skipWithoutStories || (existsSync(expected) ? false : `there is no ${fileURLToPath(expected)}`);
test("stories260K writes the stories of llama2.c", { skip }, async () => {
  const { load, eos } = await import(new URL("stories260k.js", stories));
  const tokenizer = await Tokenizer.load(new URL("tokenizer.json", stories));
  const model = await load();
  assert.ok(!(model instanceof Model), "the wrapper has its own copy of the class");
  const generator = new Generator(model, { tokenizer, eos });
  const near = (a, b) => a.every((value, i) => Math.abs(value - b[i]) < 1e-4);
  for (const ids of [[1, 5, 9], [1, 5, 9, 7], [1, 5, 9, 7, 300, 2], [1, 5, 9, 7], [4]]) {
    assert.ok(near(model.logits(ids), model.head({ input_ids: ids })), `logits after ${ids}`);
  }
  for (const ids of [[1, 5, 512], [], new Array(5000).fill(1)]) {
    assert.throws(() => model.logits(ids), { name: "LadonError", code: "length" });
  }
  assert.ok(near(model.logits([1, 5]), model.head({ input_ids: [1, 5] })), "logits after an error");
  for (const { prompt, steps, text } of JSON.parse(readFileSync(expected, "utf8")).cases) {
    let story = prompt;
    const tokens = steps - tokenizer.encode(prompt).length + 1;
    for await (const one of generator.generate(prompt, { tokens })) story += one.text;
    assert.ok(story.trimStart().startsWith(text) || text.startsWith(story.trimStart()), story);
    assert.ok(story.length >= text.length - 8, story);
  }
});
