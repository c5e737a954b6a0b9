// Tests the page that `./dev import --wasm` writes, and the tab of stories, in Chromium.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Model } from "../../dist/model.js";
import { importedFolder, recorded, skipOf, skipWithoutStories } from "../models/imported.mjs";
import { safetensors } from "../safetensors.mjs";
import { accessibilityProblems, overflow, startPage } from "./chromium.mjs";

/** Opens the page of an imported model, and waits until the model is loaded. */
async function openModel(t, name) {
  const site = await startPage(importedFolder(name));
  t.after(() => site.stop());
  const { page, context, problems } = await site.open({ width: 390, reducedMotion: "reduce" });
  await page.getByText("Ready").waitFor();
  return { site, page, context, problems };
}

test("the page of a model of texts: results, errors, and no weights over the network the second time", async (t) => {
  const { page, context, problems } = await openModel(t, "gpt2");
  const { inputs, last } = recorded("gpt2");
  await page.getByLabel("Token ids").fill(inputs.input_ids.join(" "));
  await page.getByRole("button", { name: "Compute" }).click();
  await page.getByText(`${inputs.input_ids.length} rows of 48 numbers: ${last[0].toFixed(3)}`).waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  assert.ok((await overflow(page)) <= 0);
  await page.getByLabel("Token ids").fill("1 9999");
  await page.getByRole("button", { name: "Compute" }).click();
  await page.getByRole("alert").filter({ hasText: "input_ids[1]" }).waitFor();
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.reload();
  await page.getByText("Ready").waitFor();
  assert.ok(requests.some((url) => url.endsWith(".wasm")));
  assert.ok(!requests.some((url) => url.endsWith(".weights")), "the weights come from the cache");
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await context.setOffline(true);
  await page.reload();
  await page.getByText("Ready").waitFor();
  assert.deepEqual(problems, []);
});

test("damaged weights in the cache are replaced", async (t) => {
  const { page } = await openModel(t, "gpt2");
  const keep = (bytes) =>
    page.evaluate(async (size) => {
      const cache = await caches.open("ladon-models");
      const [key] = await cache.keys();
      if (size) await cache.put(key, new Response(new Uint8Array(size)));
      return (await (await cache.match(key)).arrayBuffer()).byteLength;
    }, bytes);
  const size = await keep();
  assert.equal(size, readFileSync(`${importedFolder("gpt2")}/gpt2.weights`).length);
  assert.equal(await keep(100), 100);
  await page.reload();
  await page.getByText("Ready").waitFor();
  assert.equal(await keep(), size);
});

test("the page of a language model writes a text, and stops it for another", async (t) => {
  const { page, problems } = await openModel(t, "t5");
  const source = page.getByLabel("Token ids");
  const write = page.getByRole("button", { name: "Write" });
  await source.fill("12 5 9 20 1");
  await write.click();
  await page.locator("#text").filter({ hasText: /^11 11 11 11 11 / }).waitFor();
  await page.getByText("79 tokens").waitFor(); // as long as the model allows
  assert.deepEqual(await accessibilityProblems(page), []);
  assert.ok((await overflow(page)) <= 0);
  await source.fill("9999");
  await write.click();
  await page.getByRole("alert").filter({ hasText: "input_ids[0]" }).waitFor();
  await source.fill("12 5 9 20 1");
  await write.click();
  await write.click();
  await page.getByText("79 tokens").waitFor();
  assert.equal(await page.locator("#text").count(), 1);
  assert.equal(await page.locator("#answer").getAttribute("aria-busy"), "false");
  assert.deepEqual(problems, []);
});

/** Returns the first score that the page of the classifier shows for these rows, and the probability beside it. */
async function bestScore(rows) {
  const file = `${importedFolder("classifier")}/classifier`;
  const model = await Model.load({ module: file, weights: `${file}.weights` });
  const score = Math.max(...model.head({ samples: rows.flat() }));
  return `${score.toFixed(4)}${(100 / (1 + Math.exp(-score))).toFixed(1)}%`;
}

test("the page of a model of numbers reads rows from a text or a file, and refuses others", async (t) => {
  const { page, problems } = await openModel(t, "classifier");
  const text = page.getByLabel("samples: 1 to 20 rows of 3 numbers");
  const file = page.getByLabel("samples from a file");
  const rows = Array.from({ length: 7 }, (_, i) => [0.5 * i, -1 + 0.25 * i, i % 3]);
  const table = (heading, separator) => [heading, ...rows.map((row) => row.join(separator))].join("\n");
  const score = await bestScore(rows);
  const computes = async () => {
    await page.locator("#answer").evaluate((answer) => answer.replaceChildren());
    await page.getByRole("button", { name: "Compute" }).click();
    await page.getByRole("row").nth(1).filter({ hasText: score }).waitFor();
    assert.equal(await page.getByRole("row").count(), 6, "five classes below the heads");
  };
  for (const one of [table("x,y,z", ", "), table("", ";"), table("", "\t"), JSON.stringify([rows]), JSON.stringify({ samples: rows })]) {
    await text.fill(one);
    await computes();
  }
  assert.deepEqual(await accessibilityProblems(page), []);
  assert.ok((await overflow(page)) <= 0);
  const tensor = (...all) => Buffer.from(safetensors([all]));
  const values = Float32Array.from(rows.flat());
  const files = [
    ["rows.csv", Buffer.from(table("x,y,z", ","))],
    ["rows.json", Buffer.from(JSON.stringify(rows))],
    ["given.safetensors", tensor("given.samples", [1, 7, 3], values)],
    ["one.safetensors", tensor("x", [7, 3], values)],
  ];
  for (const [name, buffer] of files) {
    await text.fill("1 2");
    await file.setInputFiles({ name, mimeType: "", buffer });
    assert.equal(await text.inputValue(), "", "the file counts");
    await computes();
  }
  const refused = async (message) => {
    await page.getByRole("button", { name: "Compute" }).click();
    await page.getByRole("alert").filter({ hasText: message }).waitFor();
    assert.equal(await page.locator("#answer").textContent(), "");
  };
  for (const [name, buffer, message] of [
    ["rows.safetensors", Buffer.alloc(9), "safetensors"],
    ["other.safetensors", tensor("x", [3, 7], values), "Row 1: expected 3 numbers, got 7"],
    ["rows.json", Buffer.from('{"x":[1]}'), "the array samples"],
  ]) {
    await file.setInputFiles({ name, mimeType: "", buffer });
    await refused(message);
  }
  for (const [given, message] of [
    ["1,2,3\n4,5", "Row 2: expected 3 numbers, got 2"],
    ["1,2,3\n4,x,5", 'Row 2: "x" is not a number'],
    ["1,,3", 'Row 1: "" is not a number'],
    ["[[1,2,null]]", "Row 1: null is not a number"],
    ["[1,2", "JSON"],
    ["1 2 3 4", "length of samples: expected 1 to 20 frames of 3 numbers, got 4"],
    ["1 2 3\n".repeat(21), "length of samples: expected 1 to 20 frames of 3 numbers, got 63"],
    ["", "length of samples"],
  ]) {
    await text.fill(given);
    assert.equal(await file.inputValue(), "", "the text counts");
    await refused(message);
  }
  await text.fill(table("", " "));
  await computes();
  assert.deepEqual(problems, []);
});

/** Returns a BMP file with the pixels `of`(row, column, channel), in lossless 24-bit colours. */
function bitmap(height, width, of) {
  const stride = 4 * Math.ceil((3 * width) / 4);
  const file = Buffer.alloc(54 + height * stride);
  file.write("BM");
  for (const [at, value] of [[2, file.length], [10, 54], [14, 40], [18, width], [22, height]]) file.writeUInt32LE(value, at);
  file.writeUInt16LE(1, 26);
  file.writeUInt16LE(24, 28);
  for (let i = 0; i < 3 * height * width; ++i) {
    const [row, column, channel] = [Math.floor(i / 3 / width), Math.floor(i / 3) % width, i % 3];
    file[54 + (height - 1 - row) * stride + 3 * column + 2 - channel] = of(row, column, channel);
  }
  return { name: "picture.bmp", mimeType: "image/bmp", buffer: file };
}

test("the page of a model of texts and images: a vector of either, and the cosine of both", async (t) => {
  const { page, problems } = await openModel(t, "clip");
  const { inputs, answer_text: text, answer_vision: vision } = recorded("clip");
  const cosine = text.reduce((sum, value, i) => sum + value * vision[i], 0);
  const compute = page.getByRole("button", { name: "Compute" });
  const picture = page.getByLabel("A picture to choose or drop, or a file of 192 numbers");
  await page.getByLabel("input_ids").fill(inputs.input_ids.join(" "));
  await compute.click();
  await page.getByText(`A vector of 12 numbers: ${text[0].toFixed(4)}`).waitFor();
  await picture.setInputFiles({ name: "numbers.json", mimeType: "", buffer: Buffer.from(JSON.stringify(inputs.pixel_values)) });
  await compute.click();
  await page.getByText(`Cosine: ${cosine.toFixed(4)}`).waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.getByLabel("input_ids").fill("");
  await compute.click();
  await page.getByText(`A vector of 12 numbers: ${vision[0].toFixed(4)}`).waitFor();
  await picture.setInputFiles([]);
  await compute.click();
  await page.getByRole("alert").filter({ hasText: "length of input_ids" }).waitFor();
  assert.deepEqual(problems, []);
});

test("the page of a model of images reads pictures, chosen or dropped, and shows what the model sees", async (t) => {
  const { page, problems } = await openModel(t, "clip");
  const file = `${importedFolder("clip")}/clip`;
  const model = await Model.load({ module: file, weights: `${file}.weights` });
  const compute = page.getByRole("button", { name: "Compute" });
  const picture = page.getByLabel("A picture");
  const seen = page.getByRole("img", { name: "What the model sees" });
  const pixels = () => seen.evaluate((canvas) => Array.from(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data));
  // preprocessor_config.json says: the shorter edge gets 10 pixels, and the model sees the 8 x 8 in the centre.
  const of = (row, column, channel) => (37 * row + 91 * column + 53 * channel) % 256;
  const mean = [0.48145466, 0.4578275, 0.40821073];
  const std = [0.26862954, 0.26130258, 0.27577711];
  const expected = Array.from({ length: 192 }, (_, i) => {
    const [channel, row, column] = [Math.floor(i / 64), 1 + (Math.floor(i / 8) % 8), 2 + (i % 8)];
    return (of(row, column, channel) / 255 - mean[channel]) / std[channel];
  });
  const [first] = model.head({ pixel_values: expected });
  await picture.setInputFiles(bitmap(10, 12, of));
  await seen.waitFor();
  const rgba = Array.from({ length: 256 }, (_, i) => (i % 4 === 3 ? 255 : of(1 + Math.floor(i / 32), 2 + (Math.floor(i / 4) % 8), i % 4)));
  assert.deepEqual(await pixels(), rgba);
  await compute.click();
  await page.getByText(`A vector of 12 numbers: ${first.toFixed(4)}`).waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  assert.ok((await overflow(page)) <= 0);

  // A picture with four times the pixels of each direction, dropped on the page. It has a slope that scaling keeps.
  const slope = (row, column, channel) => 20 + (channel === 0 ? row : channel === 1 ? column : row + column);
  const { buffer, ...named } = bitmap(40, 48, slope);
  await page.evaluate(
    ({ bytes, named: { name, mimeType: type } }) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(bytes)], name, { type }));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    },
    { bytes: [...buffer], named },
  );
  await page.waitForFunction((before) => document.querySelector("canvas").getContext("2d").getImageData(0, 0, 1, 1).data[0] !== before, rgba[0]);
  const largest = (await pixels()).reduce((most, value, i) => {
    const [row, column] = [4 * (1 + Math.floor(i / 32)) + 1.5, 4 * (2 + (Math.floor(i / 4) % 8)) + 1.5];
    return i % 4 === 3 ? most : Math.max(most, Math.abs(value - slope(row, column, i % 4)));
  }, 0);
  assert.ok(largest <= 1, `${largest}`);

  await picture.setInputFiles({ name: "picture.png", mimeType: "image/png", buffer: Buffer.from("no picture") });
  await page.getByRole("alert").filter({ hasText: "could not be decoded" }).waitFor();
  assert.equal(await seen.count(), 0, "the picture before is hidden");
  await compute.click();
  await page.getByRole("alert").filter({ hasText: "could not be decoded" }).waitFor();
  assert.deepEqual(problems, []);
});

test("the page of a classifier of pairs: a second text, and the name of the score", async (t) => {
  const { page, problems } = await openModel(t, "pairs");
  const file = `${importedFolder("pairs")}/pairs`;
  const model = await Model.load({ module: file, weights: `${file}.weights` });
  const scoreOf = (input_ids, token_type_ids) => `relevance: ${model.head({ input_ids, token_type_ids })[0].toFixed(4)}`;
  const compute = page.getByRole("button", { name: "Compute" });
  const second = page.getByLabel("A second text, if the model reads pairs");
  await page.getByLabel("A text").fill("all is");
  await compute.click();
  await page.getByText(scoreOf([2, 4, 5, 3], [0, 0, 0, 0])).waitFor();
  await second.fill("well!");
  await compute.click();
  await page.getByText(scoreOf([2, 4, 5, 3, 6, 11, 3], [0, 0, 0, 0, 1, 1, 1])).waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  assert.ok((await overflow(page)) <= 0);
  await second.fill("all is well ".repeat(4));
  await compute.click();
  await page.getByRole("alert").filter({ hasText: "length of input_ids: expected 1 to 12, got 17" }).waitFor();
  assert.deepEqual(problems, []);
});

test("the page of a model that hears writes what follows a sound", { skip: skipOf("whisper") }, async (t) => {
  const { page, problems } = await openModel(t, "whisper");
  const sound = Array.from({ length: 8 }, (_, row) => Array.from({ length: 22 }, (_, i) => Math.sin(row + i)));
  await page.getByLabel("input_features: 176 numbers").fill(JSON.stringify(sound));
  await page.getByRole("button", { name: "Write" }).click();
  await page.getByText("31 tokens").waitFor();
  await page.getByLabel("input_features: 176 numbers").fill("1 2 3");
  await page.getByRole("button", { name: "Write" }).click();
  await page.getByRole("alert").filter({ hasText: "length of input_features: expected 176, got 3" }).waitFor();
  assert.deepEqual(problems, []);
});

test("the tab of stories: writes, stops, and writes the same story again", { skip: skipWithoutStories }, async (t) => {
  const site = await startPage();
  t.after(() => site.stop());
  const { page, problems } = await site.open({ hash: "#stories", reducedMotion: "reduce" });
  const story = page.locator("#story-text");
  await page.getByRole("button", { name: "The little dog" }).click();
  // A story takes 0.1 s, so the page itself presses Stop, after the first words.
  await page.evaluate(() => {
    const text = document.getElementById("story-text");
    const stopEarly = new MutationObserver(() => {
      if (text.textContent.length < 60) return;
      stopEarly.disconnect();
      document.getElementById("story-stop").click();
    });
    stopEarly.observe(text, { childList: true });
  });
  await page.getByRole("button", { name: "Write" }).click();
  await story.filter({ hasText: "The little dog was a little girl named Lily." }).waitFor();
  await page.locator("#story-stop:disabled").waitFor();
  assert.equal(await story.getAttribute("aria-busy").then((busy) => busy !== null), true);
  const text = await story.textContent();
  assert.ok(text.length < 90, text);
  await new Promise((done) => setTimeout(done, 100));
  assert.equal(await story.textContent(), text, "nothing is written after Stop");
  await page.getByRole("button", { name: "Write" }).click();
  await story.filter({ hasText: `${text.slice(0, 60)}` }).filter({ hasText: "She loved to play with her toys" }).waitFor();
  assert.deepEqual(problems, []);
});
