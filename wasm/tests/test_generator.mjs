// Tests generation: sampling, the end of a text, abort, and the stories of llama2.c.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Generator, Model } from "../dist/model.js";
import { Tokenizer } from "../dist/tokenizer.js";
import { importedFolder, skipOf, skipWithoutStories, stories, variantsOf } from "./models/imported.mjs";
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
/** A model with an encoder of sound. After token i, the likeliest token is i plus the number of samples. */
const hearing = (seen) => ({
  description: {
    name: "hearing",
    inputs: [
      { name: "samples", kind: "frames", most: 9, fixed: false, width: 1, rows: 0 },
      { name: "decoder_input_ids", kind: "ids", most: 8, fixed: false, width: 1, rows: 6 },
    ],
    functions: [{ name: "head", result: "answer", most: 1, width: 6, hasRows: false }],
    texts: { most: 8, vocabulary: 6, source: "samples", starts: [5] },
  },
  logits: (ids, { source, prompt }) => {
    seen.push({ source: Array.from(source), prompt });
    return Float32Array.from({ length: 6 }, (_, id) => Number(id === (ids.at(-1) + source.length) % 6));
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

test("logits of NaN and -Infinity are never chosen, and +Infinity always; the text ends if there is no other", async () => {
  const of = (logits) => ({ ...counting(200), head: () => Float32Array.from(logits) });
  for (const temperature of [0, 1]) {
    const ids = (logits) => idsOf(new Generator(of(logits)).generate([2], { tokens: 50, temperature }));
    assert.deepEqual([...new Set(await ids([NaN, -Infinity, -3, NaN, -Infinity, NaN]))], [2]);
    assert.deepEqual([...new Set(await ids([NaN, 5, Infinity, 9, 1, Infinity]))], [2]);
    assert.deepEqual(await ids([NaN, -Infinity, NaN, NaN, -Infinity, NaN]), []);
  }
  const equal = (options) => idsOf(new Generator(of([1, 1, 0, 1, 1, 1])).generate([2], { tokens: 150, temperature: 1, ...options }));
  assert.deepEqual([...new Set(await equal({ topK: 3 }))].sort(), [0, 1, 3], "the first of equal logits");
  assert.deepEqual([...new Set(await equal({ topP: 0.4 }))].sort(), [0, 1, 3]);
});

test("a model with an encoder: the prompt is its input, and the text begins with `starts`", async () => {
  const seen = [];
  const generator = new Generator(hearing(seen), { eos: [0] });
  const sound = Float32Array.of(0.5, 0.25);
  assert.deepEqual(await idsOf(generator.generate(sound)), [1, 3, 5, 1, 3, 5, 1]);
  assert.ok(seen.every(({ source, prompt }) => `${source}` === "0.5,0.25" && prompt === 1), "the input, and one token");
  assert.deepEqual(await idsOf(generator.generate(sound, { starts: [5, 2] })), [4]);
  assert.equal(seen.at(-1).prompt, 2);
  await refuses(() => idsOf(generator.generate("a text")), "option", "numbers");
  await refuses(() => idsOf(generator.generate(sound, { starts: [] })), "option", "starts");
  await refuses(() => idsOf(new Generator(counting()).generate([2], { starts: [1] })), "option", "no encoder");
});

// The models with an encoder and a decoder that ./dev test --package imports. `source` is the input of the encoder.
const sound = (seed) => Float32Array.from({ length: 8 * 22 }, (_, i) => Math.sin(0.37 * ((i * i + seed) % 1000)));
const writers = [
  { name: "t5", input: "input_ids", source: [12, 5, 9, 20, 1], other: [7, 3, 1], wrong: [[], [24]], first: [11, 11, 11, 11, 11] },
  { name: "whisper", input: "input_features", source: sound(0), other: sound(1), wrong: [[], sound(0).subarray(1)] },
].filter(({ name }) => !skipOf(name));
for (const { name, input, source, other, wrong, first } of writers) {
  const file = `${importedFolder(name)}/${name}`;
  for (const variant of variantsOf(name)) {
    test(`${name} writes texts, ${variant}: the logits of each step${first ? ", and the tokens of C++" : ""}`, async () => {
      const model = await Model.load({ module: file, weights: `${file}.weights`, variant });
      const { vocabulary, most: longest } = model.description.texts;
      const [suppressed, suppressedFirst] = [0, 14]; // make_writer.mjs
      // The head computes the whole text again, without caches, and knows no suppressed tokens.
      const isRight = (logits, ids, prompt) => {
        const expected = model.head({ [input]: source, decoder_input_ids: ids });
        const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
        const hidden = [suppressed, ...(ids.length === prompt ? [suppressedFirst] : [])];
        return logits.every((value, i) => (hidden.includes(i) ? value === -Infinity : Math.abs(value - expected[i]) <= 2e-5 * largest));
      };
      for (const starts of [[0], [5, 17, 3]]) {
        const logits = (ids, options) => {
          const found = model.logits(ids, options);
          assert.ok(isRight(found, ids, starts.length), `logits after ${ids}`);
          return found;
        };
        const checked = { description: model.description, logits };
        const ids = await idsOf(new Generator(checked).generate(source, { starts }));
        assert.equal(ids.length, longest - starts.length, "up to the largest text");
        // The same tokens as in tests/import (ladon_test_seq2seq).
        if (starts.length === 1 && first) assert.deepEqual(ids.slice(0, 5), first);
      }
      // Two texts in turns, which share the caches: each call begins its text again.
      const generator = new Generator(model);
      const alone = [];
      for (const one of [source, other]) alone.push(await idsOf(generator.generate(one, { tokens: 9 })));
      const turns = [source, other].map((one) => generator.generate(one, { tokens: 9 }));
      const inTurns = [[], []];
      for (let i = 0; i < 18; ++i) inTurns[i % 2].push((await turns[i % 2].next()).value.id);
      assert.deepEqual(inTurns, alone);
      assert.ok(isRight(model.logits([0, 11, 11], { source, prompt: 1 }), [0, 11, 11], 1), "a text that begins with three tokens");
      assert.ok(isRight(model.logits([0, 11, 11, 4], { source }), [0, 11, 11, 4], 1), "the prompt of the latest text");
      assert.ok(isRight(model.logits([0, 11, 11, 4], { source }), [0, 11, 11, 4], 4), "the same text again: all is a prompt");
      const stop = new AbortController();
      const aborted = generator.generate(source, { signal: stop.signal });
      await aborted.next();
      stop.abort("enough");
      await refuses(() => aborted.next(), "aborted", "enough");
      assert.deepEqual(await idsOf(generator.generate(source, { tokens: 9 })), alone[0]);
      await refuses(() => model.logits([0]), "option", "source");
      for (const one of wrong) await refuses(() => model.logits([0], { source: one }), "length", input);
      await refuses(() => model.logits([vocabulary], { source }), "length");
      await refuses(() => model.logits([0], { source, prompt: 2 }), "length", "prompt");
      await refuses(() => model.logits([0], { sauce: source }), "option", "sauce");
      assert.ok(isRight(model.logits([0], { source }), [0], 1), "after errors");
    });
  }
}
test("whisper writes texts", { skip: skipOf("whisper") }, () => assert.ok(writers.some(({ name }) => name === "whisper")));

/** Adds the lengths of the texts that the model reads to `seen`. Each call takes `milliseconds`. */
const readingIn = (model, seen, milliseconds = 0) => {
  const wait = (ids) => (Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds), seen.push(ids.length));
  return {
    description: model.description,
    head: model.head && ((inputs) => model.head(inputs)),
    logits: (ids, options) => (wait(ids), model.logits(ids, options)),
    read: (ids, options) => (wait(ids), model.read?.(ids, options)),
  };
};
const cachedCounting = (most, piece) => ({
  ...counting(most),
  description: { ...counting(most).description, texts: { most, vocabulary: 6, piece } },
  logits: (ids) => counting().head({ input_ids: ids }),
});

test("a long prompt is computed in pieces, between which progress is told and a signal is seen", async () => {
  const prompt = (length) => new Array(length).fill(2);
  for (const [length, read] of [[9, [4, 8, 9]], [8, [4, 8]], [5, [4, 5]], [4, [4]], [1, [1]], [13, []], [14, []]]) {
    const [seen, told] = [[], []];
    const progress = (done, total) => told.push([done, total]);
    const ids = await idsOf(new Generator(readingIn(cachedCounting(13, 4), seen)).generate(prompt(length), { tokens: 1, progress }));
    assert.deepEqual(ids, read.length ? [3] : []);
    assert.deepEqual(seen, read);
    assert.deepEqual(told, read.map((done) => [done, length]));
  }
  const told = [];
  await idsOf(new Generator(counting()).generate(prompt(3), { progress: (...all) => told.push(all) }));
  assert.deepEqual(told, [[3, 3]], "a model without caches has one piece");
  const [stop, seen] = [new AbortController(), []];
  const slow = readingIn(cachedCounting(4000, 4), seen, 5);
  setTimeout(() => stop.abort("enough"), 40);
  await refuses(() => idsOf(new Generator(slow).generate(prompt(3000), { signal: stop.signal })), "aborted", "enough");
  assert.ok(seen.length > 2 && seen.length < 100, `${seen.length} pieces`);
  await refuses(() => idsOf(new Generator(counting()).generate([2], { progress: 1 })), "option", "progress");
});

/** Checks that a prompt in pieces gives the logits and the tokens of a prompt at once, also after an abort. */
const checkPieces = async (model, source, prompt) => {
  const { piece } = model.description.texts;
  const options = { ...(source && { source }), prompt: prompt.length };
  const expected = model.logits(prompt, options);
  for (const ends of [[piece], [2 * piece], [piece, 2 * piece], [2 * piece, piece]]) {
    model.logits([5], source && { source }); // another text
    for (const end of ends) model.read(prompt.slice(0, end), options);
    assert.deepEqual(model.logits(prompt, options), expected, `after ${ends} ids`);
  }
  model.read(prompt.slice(0, piece), options);
  assert.deepEqual(model.logits(prompt, source && { source }), expected, "the prompt of the latest text");
  model.read(prompt.slice(0, piece), options);
  assert.deepEqual(model.logits([5, 9], source && { source }), model.logits([5, 9], { ...options, prompt: 2 }), "another text");
  // The wrapper of stories260K has its own copy of the class LadonError.
  const wrong = [[prompt, options], [[5], { ...options, prompt: undefined }], [[-1], options]];
  for (const given of wrong) assert.throws(() => model.read(...given), { name: "LadonError", code: "length" });

  const generate = (generator, signal, progress) =>
    idsOf(source ? generator.generate(source, { starts: prompt, tokens: 4, signal, progress }) : generator.generate(prompt, { tokens: 4, signal, progress }));
  const atOnce = await generate(new Generator({ ...readingIn(model, []), read: undefined }));
  const [stop, told, seen] = [new AbortController(), [], []];
  const generator = new Generator(readingIn(model, seen));
  const abort = (...all) => (told.push(all), stop.abort("enough"));
  await refuses(() => generate(generator, stop.signal, abort), "aborted", "enough");
  assert.deepEqual([told, seen], [[[piece, prompt.length]], [piece]], "nothing is computed behind the abort");
  assert.deepEqual(await generate(generator), atOnce);
  assert.deepEqual(seen.slice(1, 4), [piece, 2 * piece, prompt.length]);
  // Two texts in turns, which share the caches.
  assert.deepEqual(await Promise.all([generate(generator), generate(generator)]), [atOnce, atOnce]);
};
test("t5 computes a long prompt in pieces", { skip: skipOf("t5") }, async () => {
  const file = `${importedFolder("t5")}/t5`;
  for (const variant of variantsOf("t5")) {
    const model = await Model.load({ module: file, weights: `${file}.weights`, variant });
    assert.equal(model.description.texts.piece, 32);
    await checkPieces(model, writers[0].source, Array.from({ length: 70 }, (_, i) => 1 + ((7 * i) % 20)));
  }
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
  await refuses(() => new Generator(Promise.resolve(counting())), "option", "await");
  await refuses(() => new Generator(counting(), { eos: 5 }), "option", "eos");
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
test("a tokenizer gives the ids and types of a pair of texts", async () => {
  const tokenizer = await Tokenizer.load(fileURLToPath(new URL("../../tests/data/tokenizers/word_piece.json", import.meta.url)));
  const pair = tokenizer.encodePair("all is well!", "unaffable");
  assert.deepEqual(pair, { ids: [2, 4, 5, 6, 11, 3, 7, 8, 9, 3], types: [0, 0, 0, 0, 0, 0, 1, 1, 1, 1] });
  const bare = tokenizer.encodePair("all is", "well", { specialTokens: false });
  assert.deepEqual(bare, { ids: [4, 5, 6], types: [0, 0, 1] });
  await refuses(() => tokenizer.encodePair("all"), "option", "pair");
  await refuses(() => tokenizer.encodePair("all", "is", { most: 3 }), "option", "most");
});

// pairs.json has the results of Hugging Face's library for Python (tokenizers 0.23.3).
test("pairs of texts, also empty ones, have the ids and types of Hugging Face's library, for each post-processor", () => {
  const read = (name) => JSON.parse(readFileSync(new URL(`../../tests/data/tokenizers/${name}.json`, import.meta.url)));
  const { processors, cases } = read("pairs");
  const content = read("word_piece");
  assert.equal(cases.length, 80);
  for (const { post, special, a, b, ids, types } of cases) {
    const tokenizer = Tokenizer.from({ ...content, post_processor: processors[post] });
    const found = tokenizer.encodePair(a, b, { specialTokens: special });
    assert.deepEqual(found, { ids, types }, `${post}: "${a}" and "${b}"`);
  }
});

test("post-processors that join no pair are refused", async () => {
  const content = JSON.parse(readFileSync(new URL("../../tests/data/tokenizers/word_piece.json", import.meta.url)));
  const { post_processor: template } = content;
  const twice = Tokenizer.from({ ...content, post_processor: { type: "Sequence", processors: [template, template] } });
  await refuses(() => twice.encodePair("all", "is"), "option", "post_processor");
  const broken = Tokenizer.from({ ...content, post_processor: { ...template, special_tokens: {} } });
  await refuses(() => broken.encodePair("all", "is"), "option", "post_processor");
});

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
  await checkPieces(model, undefined, Array.from({ length: 90 }, (_, i) => 1 + ((i * i) % 500)));
  for (const { prompt, steps, text } of JSON.parse(readFileSync(expected, "utf8")).cases) {
    let story = prompt;
    const tokens = steps - tokenizer.encode(prompt).length + 1;
    for await (const one of generator.generate(prompt, { tokens })) story += one.text;
    assert.ok(story.trimStart().startsWith(text) || text.startsWith(story.trimStart()), story);
    assert.ok(story.length >= text.length - 8, story);
  }
});
