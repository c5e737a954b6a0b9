// Tests the page that `./dev import --wasm` writes, and the tab of stories, in Chromium.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { importedFolder, recorded, skipWithoutStories } from "../models/imported.mjs";
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

test("the page of a model of numbers names its inputs", async (t) => {
  const { page, problems } = await openModel(t, "classifier");
  await page.getByText("The inputs are numbers (samples): see classifier.d.ts.").waitFor();
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
