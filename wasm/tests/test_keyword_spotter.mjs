// Tests the keyword spotter: the answers of LiteRT, a continuous sound (`push`), several words in a sound, and errors.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import "../engine/relaxed_simd.mjs";
import { LadonError, load } from "../dist/index.js";
import { KeywordSpotter, Microphone } from "../dist/keywords.js";
import { runnable } from "./int8_kernels.mjs";
import { runs, shipped, variants } from "./kernels.mjs";
import { answers, recordings, samplesOf, skipWithoutModel, skipWithoutRecordings, weights } from "./keywords_files.mjs";
import { safetensors } from "./safetensors.mjs";

const isAbout =
  (code, text = "") =>
  (error) =>
    error instanceof LadonError && error.code === code && error.message.includes(text);
const furthest = (a, b) => a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);
const spotterOf = (options = {}) => KeywordSpotter.load({ weights: pathToFileURL(weights), ...options });
/** Returns the samples of the recordings `names`, one recording after another. */
const joined = (...names) => Float32Array.from(names.flatMap((name) => Array.from(samplesOf(name))));
/** Returns the results without the member `milliseconds`, which differs from run to run. */
const timeless = (found) => found.map(({ milliseconds, ...rest }) => rest);

let spotter;
let expected;
before(async () => {
  if (skipWithoutRecordings) return;
  spotter = await spotterOf();
  expected = JSON.parse(readFileSync(answers, "utf8"));
});
after(() => spotter?.free());

/**
 * Checks all recordings against LiteRT's answers. A logit may differ by at most `most`. The labels are compared only if
 * the two largest expected logits differ by more than `margin`.
 */
const checkLogits = (one, { most, margin }) => {
  let worst = 0;
  for (const name of recordings) {
    const { logits: wanted } = expected.cases.find(({ file }) => file === `${name}_1000ms.wav`);
    const { label, logits } = one.spot(samplesOf(name));
    worst = Math.max(worst, furthest(wanted, logits));
    const [first, second] = [...wanted].sort((a, b) => b - a);
    if (first - second > margin) assert.equal(label, expected.labels[wanted.indexOf(first)], name);
  }
  assert.ok(worst <= most, `a logit differs by ${worst}`);
  return worst;
};

describe("the answers of LiteRT", { skip: skipWithoutRecordings }, () => {
  for (const variant of variants.filter((variant) => runs("keywords", variant))) {
    test(`float32, ${variant}`, async (t) => {
      const one = await spotterOf({ variant });
      t.diagnostic(`largest difference of a logit: ${checkLogits(one, { most: 1e-3, margin: 0 })}`);
      one.free();
    });
  }
  for (const variant of runnable) {
    test(`int8, ${variant}`, async (t) => {
      const one = await spotterOf({ variant, precision: "int8" }).catch((error) => {
        assert.equal(error.code, "unsupported");
      });
      if (!one) return t.skip("this engine computes the instruction inexactly");
      assert.equal(one.kernel.description.precision, "int8");
      t.diagnostic(`largest difference of a logit: ${checkLogits(one, { most: 0.3, margin: 0.6 })}`);
      one.free();
    });
  }
});

test("probabilities, attention and spectrogram", { skip: skipWithoutRecordings }, () => {
  const found = spotter.spot(samplesOf("yes"));
  assert.equal(found.label, "yes");
  assert.ok(Math.abs(found.probability - 0.909) < 1e-3, `${found.probability}`);
  assert.equal(found.probability, found.probabilities[KeywordSpotter.labels.indexOf("yes")]);
  assert.ok(Math.abs(found.probabilities.reduce((a, b) => a + b) - 1) < 1e-6);
  assert.deepEqual(KeywordSpotter.labels, expected.labels);
  assert.equal(found.attention.length, 12);
  for (const row of found.attention) {
    assert.equal(row.length, 99);
    assert.ok(Math.abs(row.reduce((a, b) => a + b) - 1) < 1e-5);
  }
  assert.equal(found.bands.length, 98 * 80);
  assert.deepEqual(found.words, []);
  assert.equal(found.start, 0);
  assert.ok(found.milliseconds > 0);
  const without = spotter.spot(samplesOf("yes"), { attention: false, sampleRate: 16000 });
  assert.deepEqual(without.attention, []);
  assert.ok(furthest(without.logits, found.logits) < 1e-5);
});

test("the spectrogram has a tone in its mel band", { skip: skipWithoutRecordings }, () => {
  const hertz = 1000;
  const { bands } = spotter.spot(
    Float32Array.from({ length: 16000 }, (_, i) => Math.sin((2 * Math.PI * hertz * i) / 16000)),
  );
  const mel = (f) => 1127 * Math.log(1 + f / 700);
  // The 80 mel bands are triangles between 82 points, which divide the range from 20 to 7600 Hz into equal steps of
  // mel. Counted from 0, band i has its peak at point i + 1.
  const place = ((mel(hertz) - mel(20)) / (mel(7600) - mel(20))) * 81 - 1;
  for (const frame of [0, 50, 97]) {
    const row = bands.subarray(frame * 80, (frame + 1) * 80);
    assert.ok(Math.abs(row.indexOf(Math.max(...row)) - place) <= 1, `frame ${frame}`);
  }
});

test("a sound of less than a second is padded with zeros", { skip: skipWithoutRecordings }, () => {
  const samples = samplesOf("no");
  const short = spotter.spot(samples.subarray(0, 12345));
  const padded = new Float32Array(16000);
  padded.set(samples.subarray(0, 12345));
  assert.deepEqual(short.logits, spotter.spot(padded).logits);
  assert.equal(spotter.spot(new Float32Array(1)).label, "_silence_");
});

test("a sound that goes on gives the logits of whole windows", { skip: skipWithoutRecordings }, () => {
  spotter.clear();
  const sound = joined("silence", "yes", "noise", "no");
  const heard = spotter.push(sound);
  assert.equal(heard.length, Math.floor((sound.length - 8000) / 1600) + 1);
  let worst = 0;
  heard.forEach(({ logits, attention, bands, start }, i) => {
    const begin = i * 1600 - 8000;
    const window = new Float32Array(16000);
    window.set(sound.subarray(Math.max(begin, 0), begin + 16000), Math.max(-begin, 0));
    const whole = spotter.spot(window);
    worst = Math.max(worst, furthest(whole.logits, logits), furthest(whole.bands, bands));
    attention.forEach((row, layer) => (worst = Math.max(worst, furthest(row, whole.attention[layer]))));
    assert.equal(start, Math.max(begin, 0) / 16000);
  });
  assert.ok(worst < 1e-4, `${worst}`);
  assert.deepEqual(
    heard.flatMap(({ word }) => (word ? [word.label] : [])),
    ["yes", "no"],
  );
});

test("the sizes of the pieces do not matter", { skip: skipWithoutRecordings }, () => {
  const sound = joined("yes", "silence", "no").subarray(0, 40001);
  spotter.clear();
  const whole = timeless(spotter.push(sound));
  for (const size of [1, 128, 160, 512, 1601, 15999, 16001]) {
    spotter.clear();
    const most = size === 1 ? 12000 : sound.length; // a call for each sample is slow, so only 12,000 samples are pushed
    const heard = [];
    for (let at = 0; at < most; at += size) {
      heard.push(...spotter.push(sound.subarray(at, Math.min(at + size, most))));
      if (at === 8000 * size) spotter.spot(sound); // must not change the sound of `push`
    }
    assert.ok(heard.length > 0);
    assert.deepEqual(
      timeless(heard).map(({ label, start, word }) => ({ label, start, word: word?.label })),
      whole.slice(0, heard.length).map(({ label, start, word }) => ({ label, start, word: word?.label })),
    );
    heard.forEach(({ logits }, i) => assert.ok(furthest(logits, whole[i].logits) < 1e-4, `${size}`));
  }
  spotter.push(new Float32Array(100));
  spotter.clear();
  assert.deepEqual(spotter.push(new Float32Array(7999)), []);
  assert.equal(spotter.push(new Float32Array(1)).length, 1);
  spotter.clear();
});

test("a longer sound: its words, and the window that is surest of a word", { skip: skipWithoutRecordings }, () => {
  const sound = joined("silence", "yes", "silence", "no", "silence");
  const { words, label, probability, start } = spotter.spot(sound);
  assert.deepEqual(
    words.map(({ label }) => label),
    ["yes", "no"],
  );
  words.forEach(({ probability }) => assert.ok(probability >= 0.6 && probability <= 1));
  assert.ok(words[0].start < words[1].start);
  assert.ok(["yes", "no"].includes(label) && probability > 0.85, `${label} ${probability}`);
  // The returned window of one second begins at a multiple of the stride (1600 samples) and lies within the sound. A
  // call of `spot` with only these samples must give the same probability.
  const begin = Math.round(start * 16000);
  assert.ok(begin % 1600 === 0 && begin + 16000 <= sound.length);
  assert.ok(Math.abs(spotter.spot(sound.slice(begin, begin + 16000)).probability - probability) < 1e-4);
  assert.equal(spotter.spot(joined("noise", "silence")).words.length, 0);
});

test("another stride", { skip: skipWithoutRecordings }, async () => {
  const one = await spotterOf({ stride: 250 });
  const sound = joined("yes", "silence");
  assert.equal(one.push(sound).length, (sound.length - 8000) / 4000 + 1);
  assert.deepEqual(
    one.spot(sound).words.map(({ label }) => label),
    ["yes"],
  );
  one.free();
});

test("sounds that are refused", { skip: skipWithoutRecordings }, () => {
  const sound = samplesOf("yes");
  for (const call of ["spot", "push"]) {
    const refuse = (samples, options, about) => assert.throws(() => spotter[call](samples, options), about, call);
    refuse(sound, { sampleRate: 44100 }, isAbout("option", "sampleRate: expected 16000, got 44100"));
    refuse(sound, { rate: 16000 }, isAbout("option"));
    refuse([...sound], {}, isAbout("option", "Float32Array"));
    refuse(undefined, {}, isAbout("option", "Float32Array"));
    for (const value of [NaN, Infinity, -Infinity]) {
      const damaged = sound.slice();
      damaged[77] = value;
      refuse(damaged, {}, isAbout("option", "sample 77: expected a finite number"));
    }
  }
  assert.throws(() => spotter.spot(new Float32Array()), isAbout("length"));
  assert.deepEqual(spotter.push(new Float32Array()), []);
  spotter.clear();
});

/** Returns the tensors of kwt1.safetensors as the first argument of safetensors(): a list of [name, shape, floats]. */
const tensorsOf = () => {
  const bytes = readFileSync(weights);
  const begin = 8 + Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.toString("utf8", 8, begin));
  return Object.entries(header).map(
    ([
      name,
      {
        shape,
        data_offsets: [first, end],
      },
    ]) => {
      return [
        name,
        shape,
        new Float32Array(bytes.buffer.slice(bytes.byteOffset + begin + first, bytes.byteOffset + begin + end)),
      ];
    },
  );
};

test("files of weights that are refused", { skip: skipWithoutModel }, async () => {
  const tensors = tensorsOf();
  for (const missing of ["class_token", "head.bias", "embed.weight", "layers.3.linear1_weight"]) {
    const file = safetensors(tensors.filter(([name]) => name !== missing.replace("1_weight", "1.weight")));
    await assert.rejects(KeywordSpotter.load({ weights: file }), isAbout("weights", missing));
  }
  const short = tensors.map(([name, shape, data]) =>
    name === "position" ? [name, [98, 64], data.subarray(64)] : [name, shape, data],
  );
  await assert.rejects(KeywordSpotter.load({ weights: safetensors(short) }), isAbout("length", "position"));
  await assert.rejects(KeywordSpotter.load({ weights: new Uint8Array(100) }), isAbout("weights"));
  const damaged = tensors.map(([name, shape, data]) => [
    name,
    shape,
    name === "head.bias" ? data.map(() => NaN) : data,
  ]);
  const one = await KeywordSpotter.load({ weights: safetensors(damaged) });
  assert.throws(() => one.spot(new Float32Array(16000)), isAbout("weights", "not a number"));
  one.free();
});

test("options that are refused", async () => {
  const refuse = (options, about) => assert.rejects(KeywordSpotter.load(options), about);
  for (const stride of [0, 5, 15, 1010, -100, NaN, "100"])
    await refuse({ weights, stride }, isAbout("option", "stride"));
  await refuse({ weights, strides: 100 }, isAbout("option"));
  await refuse({ weights, precision: "int3" }, isAbout("option", "precision"));
  await refuse({ weights, precision: "int4" }, isAbout("unsupported", "precision"));
  await refuse({ weights, kernel: await load(shipped("minilm")) }, isAbout("option", "kernel"));
  await refuse({ weights, kernel: {} }, isAbout("option", "kernel"));
  await refuse({ weights, frontEnd: new Uint8Array(8) }, isAbout("not-a-module"));
  await refuse(
    { weights, frontEnd: new URL("../dist/modules/minilm.simd.wasm", import.meta.url) },
    isAbout("not-a-module"),
  );
  await refuse({ weights, frontEnd: new URL("absent.wasm", import.meta.url) }, isAbout("network"));
  await refuse({ weights: new URL("absent.safetensors", import.meta.url) }, isAbout("network"));
  await refuse({ weights, signal: AbortSignal.abort("no time") }, isAbout("aborted", "no time"));
});

test("after free, calls are errors", { skip: skipWithoutRecordings }, async () => {
  const one = await spotterOf();
  one.push(new Float32Array(16000));
  one.free();
  one.free();
  assert.throws(() => one.spot(new Float32Array(16000)), isAbout("closed"));
  assert.throws(() => one.push(new Float32Array(1)), isAbout("closed"));
});

test("the microphone: an error where there is none", async () => {
  await assert.rejects(Microphone.open({ samples: () => undefined }), isAbout("microphone", "https or localhost"));
  await assert.rejects(Microphone.open({}), isAbout("option", "samples"));
});
