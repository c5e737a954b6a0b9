// Tests that each tab of the page works with the keyboard, with the mouse, at any width, and without a network.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { model, skipWithoutModel } from "../minilm_files.mjs";
import { accessibilityProblems, folder, overflow, problemsOfBothSchemes, smallTargets, startPage } from "./chromium.mjs";

let site;
before(async () => {
  site = await startPage();
});
after(() => site.stop());

const answerIs = (page, text) => page.getByRole("status").filter({ hasText: text }).first().waitFor();

// Waits until the service worker has stored the page's files and answers the page's requests.
async function serviceWorker(page) {
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    if (!navigator.serviceWorker.controller) {
      await new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done, { once: true }));
    }
  });
}

for (const width of [320, 1280]) {
  test(`every tab at ${width} px, light and dark: no errors, nothing wider than the page, accessible`, async () => {
    const { page, context, problems } = await site.open({ width, colorScheme: "light", reducedMotion: "reduce" });
    await answerIs(page, "2024-02-03");
    for (const name of await page.getByRole("tab").allInnerTexts()) {
      await page.getByRole("tab", { name }).click();
      await page.getByRole("tabpanel", { name }).waitFor();
      assert.ok((await overflow(page)) <= 0, name);
      assert.deepEqual(await smallTargets(page), [], name);
      assert.deepEqual(await problemsOfBothSchemes(page), [], name);
    }
    assert.deepEqual(problems, []);
    await context.close();
  });
}

test("what other sites show of the page", async () => {
  const { page, context } = await site.open();
  const content = (name) => page.locator(`meta[property="og:${name}"]`).getAttribute("content");
  assert.equal(await content("title"), await page.title());
  assert.match(await content("description"), /WebAssembly/);
  assert.match(await content("image:alt"), /date/);
  const picture = await page.evaluate(async (url) => {
    const image = new Image();
    image.src = url;
    await image.decode();
    return [image.naturalWidth, image.naturalHeight];
  }, await content("image"));
  assert.ok(picture.every((size) => size >= 600), `${picture}`);
  await context.close();
});

test("the addresses of the project and of the page, where they are known", () => {
  const build = fileURLToPath(new URL("../../build-demo.mjs", import.meta.url));
  const built = mkdtempSync(join(tmpdir(), "ladon-page-"));
  try {
    const index = (env) => {
      const script = `import { writeIndex } from ${JSON.stringify(pathToFileURL(build).href)}; writeIndex(${JSON.stringify(built)});`;
      execFileSync(process.execPath, ["--input-type=module", "-e", script], { env: { ...process.env, ...env } });
      return readFileSync(join(built, "index.html"), "utf8");
    };
    const known = index({ LADON_URL: "https://example.org/a?b&c", LADON_PAGE_URL: "https://example.org/page/" });
    assert.ok(known.includes('href="https://example.org/a?b&amp;c">Source</a>'));
    assert.ok(known.includes('content="https://example.org/page/page.png"'));
    // LADON_URL is empty, and GIT_DIR is no repository, so git finds no address. So the page must have no link to the
    // project. LADON_PAGE_URL is empty, too, so the address of the picture must stay relative.
    const unknown = index({ LADON_URL: "", LADON_PAGE_URL: "", GIT_DIR: "/dev/null" });
    assert.ok(!unknown.includes("Source</a>") && unknown.includes('content="page.png"'));
  } finally {
    rmSync(built, { recursive: true });
  }
});

test("sentences without the model: ranked by stored embeddings, with the keys", async () => {
  const { page, context, problems } = await site.open({ hash: "#sentences" });
  const first = page.locator("#example-ranking li").first();
  await first.filter({ hasText: "We refund any order" }).waitFor();
  await page.getByText("MiniLM computed these numbers beforehand").waitFor();
  const question = page.getByRole("button", { name: "my puppy is restless" });
  await question.focus();
  await page.keyboard.press("Enter");
  await first.filter({ hasText: "Dogs need a walk" }).waitFor();
  assert.equal(await question.getAttribute("aria-pressed"), "true");
  assert.equal(await page.locator("#example-ranking li").count(), 10);
  assert.deepEqual(problems, []);
  await context.close();
});

test("a typed date is read on every key stroke", async () => {
  const { page, context, problems } = await site.open();
  await answerIs(page, "2024-02-03");
  const field = page.getByLabel("A date, as you would write it");
  await field.fill("");
  await answerIs(page, "no date");
  await field.pressSequentially("oct 7 '23");
  await answerIs(page, "2023-10-07");
  await page.getByRole("button", { name: "march on" }).click();
  await answerIs(page, "no date");
  for (const text of ["<b>&\"'</b>", "é", "a".repeat(60), "1".repeat(40)]) {
    await field.fill(text);
    await answerIs(page, "no date");
  }
  assert.deepEqual(problems, []);
  await context.close();
});

test("a digit and a head are selected with the keys; the table has the picture's numbers", async () => {
  const { page, context } = await site.open();
  await answerIs(page, "2024-02-03");
  const explanation = page.locator("#date-explanation");
  await page.getByRole("radio", { name: "the year’s first digit" }).focus();
  await page.keyboard.press("Space");
  await explanation.filter({ hasText: "Layer 1, head 0: the year’s first digit (2) looks at “2”" }).waitFor();
  await page.keyboard.press("ArrowRight");
  await explanation.filter({ hasText: "the year’s second digit (0) looks at “0”" }).waitFor();
  await page.getByRole("radio", { name: "layer 0, head 3" }).focus();
  await page.keyboard.press("Space");
  await explanation.filter({ hasText: "Layer 0, head 3" }).waitFor();
  // A new text does not change the selected head.
  await page.getByLabel("A date, as you would write it").fill("2024-02-04");
  await explanation.filter({ hasText: "Layer 0, head 3" }).waitFor();
  await page.getByRole("tabpanel", { name: "Dates" }).getByText("The head above, in numbers").click();
  assert.equal(await page.locator("#date-table tbody tr").count(), 8);
  assert.equal(await page.locator("#date-table thead th").count(), 10 + 8);
  await context.close();
});

test("tabs are selected by arrow keys, Home and End, and by the address", async () => {
  const { page, context } = await site.open({ hash: "#benchmark" });
  const chosen = () => page.evaluate(() => document.activeElement.id);
  await page.getByRole("tabpanel", { name: "Benchmark" }).waitFor();
  await page.getByRole("tab", { name: "Benchmark" }).focus();
  const hasStories = await page.getByRole("tab", { name: "Stories" }).count();
  for (const [key, id] of [
    ["ArrowRight", "tab-dates"],
    ["ArrowLeft", "tab-benchmark"],
    ...(hasStories ? [["ArrowLeft", "tab-stories"]] : []),
    ["ArrowLeft", "tab-words"],
    ["ArrowLeft", "tab-sentences"],
    ["Home", "tab-dates"],
    ["End", "tab-benchmark"],
  ]) {
    await page.keyboard.press(key);
    assert.equal(await chosen(), id);
    assert.equal(await page.locator("[role=tab][aria-selected=true]").getAttribute("id"), id);
    assert.equal(await page.locator("[role=tabpanel]:visible").count(), 1);
  }
  assert.equal(new URL(page.url()).hash, "#benchmark");
  // The focused tab has a visible outline. The Tab key then leads to the first button of the open panel.
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), "none");
  await page.keyboard.press("Tab");
  assert.equal(await chosen(), "benchmark-run");
  await context.close();
});

test("nothing moves while the page starts and during typing", async () => {
  const { page, context } = await site.open({ width: 390 });
  await page.evaluate(() => {
    globalThis.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) globalThis.shift += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  await answerIs(page, "2024-02-03");
  await page.getByLabel("A date, as you would write it").fill("5 may 2001");
  await answerIs(page, "2001-05-05");
  await page.waitForTimeout(1500);
  const shift = await page.evaluate(() => globalThis.shift);
  assert.ok(shift < 0.01, `${shift}`);
  await context.close();
});

const loadFiles = async (page, ...files) => {
  await page.locator("#model-choice:not([inert])").waitFor({ state: "attached" });
  await page.setInputFiles("#model-files", files);
};
const figuresOf = (page, row) =>
  page.locator("#comparison-table tr").filter({ hasText: row }).locator("td").allInnerTexts();
/**
 * Waits for the table that compares int8 with float32. Returns the figures of each row, by the beginning of the row's
 * text.
 */
const comparisonOf = async (page) => {
  await page.locator("#comparison-table tr").filter({ hasText: "Smallest" }).waitFor({ timeout: 90_000 });
  const rows = ["Time of", "File of weights", "Memory", "mean of", "Smallest"];
  const figures = await Promise.all(rows.map((row) => figuresOf(page, row)));
  return Object.fromEntries(rows.map((row, i) => [row, figures[i].map(Number.parseFloat)]));
};
const keptNames = (page) =>
  page.evaluate(async () => {
    const requests = (await caches.has("ladon-minilm")) ? await (await caches.open("ladon-minilm")).keys() : [];
    return requests.map(({ url }) => url.split("/").at(-1)).sort();
  });
const weightsFact = (page, text) => page.locator("#sentence-facts > div").filter({ hasText: text }).waitFor();
const precision = (page, name) => page.getByRole("radio", { name });

test(
  "MiniLM from files: int8 by default; the attention of 'it', ranked sentences, files kept for the next visit",
  { skip: skipWithoutModel },
  async () => {
    const { page, context, problems } = await site.open({ hash: "#sentences" });
    await loadFiles(page, model.vocabulary);
    await page.getByRole("alert").filter({ hasText: "Choose two files at once" }).waitFor();
    assert.equal(await precision(page, "Int8").isChecked(), true);
    await loadFiles(page, model.weights, model.vocabulary);
    const explanation = page.locator("#attention-explanation");
    await explanation.filter({ hasText: "Layer 3, head 1: “it” looks most at “dog” (5" }).waitFor({ timeout: 90_000 });
    await page.getByRole("button", { name: "… it was delicious" }).click();
    await explanation.filter({ hasText: /looks most at “food” \(2[3-7]%\)/ }).waitFor({ timeout: 30_000 });
    assert.equal(await page.locator(".word-heads .head").count(), 72);

    const first = page.locator("#ranking li").first();
    await first.filter({ hasText: "We refund any order" }).waitFor({ timeout: 30_000 });
    await page.getByLabel("What do you look for?").fill("my puppy is restless");
    await first.filter({ hasText: "Dogs need a walk" }).waitFor({ timeout: 30_000 });
    assert.deepEqual(await accessibilityProblems(page), []);
    assert.deepEqual(await keptNames(page), ["int8.safetensors", "vocab.txt"]);

    await page.reload();
    await explanation.filter({ hasText: "“dog”" }).waitFor({ timeout: 90_000 });
    await page.getByText("Float32 needs the float32 file of 91 MB").waitFor({ timeout: 30_000 });
    await page.getByRole("button", { name: "Forget the model" }).click();
    await page.getByRole("button", { name: "Fetch the model" }).waitFor();
    await page.reload();
    await page.getByRole("button", { name: "Fetch the model" }).waitFor();
    assert.deepEqual(problems, []);
    await context.close();
  },
);

test("int8 beside float32: figures; keys select the precision", { skip: skipWithoutModel }, async () => {
  const { page, context, problems } = await site.open({ hash: "#sentences", width: 320 });
  await loadFiles(page, model.weights, model.vocabulary);
  const figures = await comparisonOf(page);
  for (const time of figures["Time of"]) assert.ok(time > 0, `${figures["Time of"]}`);
  assert.deepEqual(figures["File of weights"], [23, 90.9]);
  const [int8Memory, float32Memory] = figures.Memory;
  assert.ok(int8Memory > 23 && int8Memory < 27 && float32Memory > 90, `${figures.Memory}`);
  const [mean] = figures["mean of"];
  const [smallest] = figures.Smallest;
  assert.ok(mean >= 0.994 && mean < 1 && smallest <= mean && smallest > 0.98, `${mean} ${smallest}`);
  assert.ok((await overflow(page)) <= 0);
  assert.deepEqual(await accessibilityProblems(page), []);

  // Replaces the list of other sentences by one sentence. The table must then show the mean of two cosines, for this
  // sentence and for the sentence in the text field.
  await page.getByText("Other sentences").click();
  await page.getByLabel("One a line").fill("Only this one.");
  await page.locator("#comparison-table").getByText("mean of 2 sentences").waitFor({ timeout: 30_000 });

  const score = page.locator("#ranking .score").first();
  const int8Score = await score.innerText();
  await weightsFact(page, "activations");
  await precision(page, "Int8").focus();
  await page.keyboard.press("ArrowRight");
  await weightsFact(page, "90.9 MB");
  assert.equal(await precision(page, "Float32").isChecked(), true);
  await page.locator("#sentence-facts").filter({ hasNotText: "activations" }).waitFor();
  await score.filter({ hasText: /^(?!$)/, hasNotText: int8Score }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await weightsFact(page, "23.0 MB");
  await score.filter({ hasText: int8Score }).waitFor();
  assert.deepEqual(problems, []);
  await context.close();
});

// The SHA-256 of MiniLM's int8 file, as `ladon-weights quantise model.safetensors OUT --embeddings` writes it. The page
// must make the same file.
const int8Sha256 = "1a83b430b5be0d7a93cf1124c475c83eaf27ad6e4cc9431f224eaed895eabbc1";

test("the int8 file: saved, loaded, and compared after float32 is loaded", { skip: skipWithoutModel }, async () => {
  const { page, context, problems } = await site.open({ hash: "#sentences" });
  const files = mkdtempSync(join(tmpdir(), "ladon-page-"));
  const int8 = join(files, "model.int8.safetensors");
  try {
    await loadFiles(page, model.weights, model.vocabulary);
    const save = page.getByRole("button", { name: "Save the int8 file" });
    await save.waitFor({ timeout: 90_000 });
    const [download] = await Promise.all([page.waitForEvent("download"), save.click()]);
    assert.equal(download.suggestedFilename(), "model.int8.safetensors");
    await download.saveAs(int8);
    const content = readFileSync(int8);
    assert.ok(content.length <= 24e6, `${content.length}`);
    assert.equal(createHash("sha256").update(content).digest("hex"), int8Sha256);

    await page.getByRole("button", { name: "Forget the model" }).click();
    await page.locator("#model-fetch:focus").waitFor(); // the page removes the stored files first
    await loadFiles(page, int8, model.vocabulary);
    const missing = page.locator("#comparison-missing").filter({ hasText: "Float32 needs the float32 file of 91 MB" });
    await missing.waitFor({ timeout: 90_000 });
    assert.equal(await page.locator("#comparison-table").isVisible(), false);
    assert.deepEqual(await keptNames(page), ["int8.safetensors", "vocab.txt"]);
    assert.deepEqual(await accessibilityProblems(page), []);

    // Float32 is not available, and the form shows the reason. Int8 is still available.
    const form = page.locator("#model-choice");
    await precision(page, "Float32").check();
    await form.getByRole("alert").filter({ hasText: "Float32 needs the float32 file" }).waitFor();
    assert.equal(await page.locator("#sentence-tools").isVisible(), false);
    await loadFiles(page, int8, model.vocabulary);
    await page.getByRole("progressbar").waitFor({ state: "hidden" });
    await form.getByRole("alert").filter({ hasText: "Float32 needs the float32 file" }).waitFor();
    await precision(page, "Int8").check();
    await page.locator("#sentence-tools").waitFor();
    assert.equal(await form.isVisible(), false);

    await page.getByRole("button", { name: "Load the float32 file" }).click();
    await page.locator("#model-fetch:focus").waitFor();
    await loadFiles(page, model.weights, model.vocabulary);
    assert.deepEqual((await comparisonOf(page))["File of weights"], [23, 90.9]);
    assert.equal(await form.isVisible(), false);
    assert.deepEqual(await keptNames(page), ["int8.safetensors", "vocab.txt"]);
    assert.deepEqual(problems, []);
  } finally {
    await context.close();
    rmSync(files, { recursive: true });
  }
});

test("float32 by choice: its file is stored, and int8 is made from it again", { skip: skipWithoutModel }, async () => {
  const { page, context, problems } = await site.open({ hash: "#sentences" });
  await page.locator("#model-choice:not([inert])").waitFor();
  await precision(page, "Float32").check();
  await loadFiles(page, model.weights, model.vocabulary);
  await weightsFact(page, "90.9 MB");
  assert.deepEqual(await keptNames(page), ["model.safetensors", "vocab.txt"]);
  await page.reload();
  assert.deepEqual((await comparisonOf(page))["File of weights"], [23, 90.9]);
  assert.equal(await precision(page, "Float32").isChecked(), true);
  assert.deepEqual(problems, []);
  await context.close();
});

test("a damaged file of weights: an error, and the loaded model is kept", { skip: skipWithoutModel }, async () => {
  const { page, context } = await site.open({ hash: "#sentences" });
  const files = mkdtempSync(join(tmpdir(), "ladon-page-"));
  const short = join(files, "short.safetensors");
  writeFileSync(short, readFileSync(model.weights).subarray(0, 1e6));
  try {
    await loadFiles(page, short, model.vocabulary);
    await page.getByRole("alert").filter({ hasText: "must have 90868376 bytes, but have 1000000" }).waitFor();
    assert.deepEqual(await keptNames(page), []);
    await loadFiles(page, model.weights, model.vocabulary);
    await comparisonOf(page);
    await loadFiles(page, short, model.vocabulary);
    await page.locator("#model-problem").filter({ hasText: "must have" }).waitFor({ state: "attached" });
    assert.deepEqual(await keptNames(page), ["int8.safetensors", "vocab.txt"]);
    assert.equal(await page.locator("#sentence-tools").isVisible(), true);
  } finally {
    await context.close();
    rmSync(files, { recursive: true });
  }
});

test("fetching: by the user's click only, with progress and cancel; errors are shown", async () => {
  const { page, context } = await site.open({ hash: "#sentences" });
  const asked = [];
  let release;
  const held = new Promise((resolve) => (release = resolve));
  await context.route("https://huggingface.co/**", async (route) => {
    asked.push(route.request().url());
    await held;
    await route.abort().catch(() => undefined);
  });
  const fetchButton = page.getByRole("button", { name: "Fetch the model" });
  await fetchButton.waitFor();
  await page.waitForTimeout(500);
  assert.deepEqual(asked, []);
  await fetchButton.click();
  const cancel = page.getByRole("button", { name: "Cancel" });
  await page.getByRole("progressbar").waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), "model-cancel");
  await cancel.click();
  await cancel.waitFor({ state: "hidden" });
  assert.equal(asked.length, 2);
  assert.equal(await page.locator("#model-problem").isVisible(), false);
  await page.locator("#model-fetch:focus").waitFor();
  release();

  await page.locator("#model-choice").getByText("Fetch from another address").click();
  await page.getByLabel("model.safetensors").fill(`${site.url}absent.safetensors`);
  await page.getByLabel("vocab.txt").fill(`${site.url}absent.txt`);
  await fetchButton.click();
  await page.getByRole("alert").filter({ hasText: "answered with status 404" }).waitFor();
  // A file that is not a model causes an error, and is not stored.
  await page.getByLabel("model.safetensors").fill(`${site.url}icon.svg`);
  await page.getByLabel("vocab.txt").fill(`${site.url}page.css`);
  await fetchButton.click();
  await page.getByRole("alert").filter({ hasText: "vocabulary" }).waitFor();
  assert.equal(await page.evaluate(() => caches.has("ladon-minilm")), false);
  await context.close();
});

test("a fetched file with another checksum: an error, and not stored", async () => {
  const { page, context } = await site.open({ hash: "#sentences" });
  await context.route("https://huggingface.co/**", (route) =>
    route.fulfill({ body: "another file", headers: { "access-control-allow-origin": "*" } }),
  );
  await page.getByRole("button", { name: "Fetch the model" }).click();
  await page.getByRole("alert").filter({ hasText: "the SHA-256 must be " }).waitFor();
  assert.equal(await page.evaluate(() => caches.has("ladon-minilm")), false);
  await context.close();
});

test("one changed bit of a weight: an error, not stored; right files are used", { skip: skipWithoutModel }, async () => {
  const copy = mkdtempSync(join(tmpdir(), "ladon-page-"));
  cpSync(folder, copy, { recursive: true });
  const weights = readFileSync(model.weights);
  writeFileSync(join(copy, "right.safetensors"), weights);
  weights[weights.length - 1] ^= 1;
  writeFileSync(join(copy, "changed.safetensors"), weights);
  cpSync(model.vocabulary, join(copy, "vocab.txt"));
  const other = await startPage(copy);
  try {
    const { page } = await other.open({ hash: "#sentences" });
    // Changes the default addresses of the form to addresses of the test's server. The checksums of the form still
    // belong to the published files.
    const setAddress = (id, name) =>
      page.evaluate(([id, url]) => document.getElementById(id).setAttribute("value", url), [id, `${other.url}${name}`]);
    const fetchButton = page.getByRole("button", { name: "Fetch the model" });
    await fetchButton.waitFor();
    await setAddress("vocabulary-url", "vocab.txt");
    await setAddress("weights-url", "changed.safetensors");
    await fetchButton.click();
    await page.getByRole("alert").filter({ hasText: "changed.safetensors: the SHA-256 must be 53aa51" }).waitFor();
    assert.equal(await page.evaluate(() => caches.has("ladon-minilm")), false);
    await setAddress("weights-url", "right.safetensors");
    await fetchButton.click();
    const explanation = page.locator("#attention-explanation");
    await explanation.filter({ hasText: "Layer 3, head 1: “it” looks most at “dog” (5" }).waitFor({ timeout: 90_000 });
    assert.equal(await page.evaluate(() => caches.has("ladon-minilm")), true);
  } finally {
    await other.stop();
    rmSync(copy, { recursive: true });
  }
});

test("the benchmark before a measurement: no figures, and no signs for missing ones", async () => {
  const { page, context } = await site.open({ hash: "#benchmark" });
  await page.getByRole("row", { name: "scalar" }).first().waitFor();
  const cells = await page.locator(".bar").allInnerTexts();
  assert.equal(cells.length, 5 * 3 * 2);
  for (const text of cells) assert.match(text.trim(), /^(not in this browser)?$/);
  await context.close();
});

test("the benchmark: figures for every shape and module, and Markdown", { timeout: 240_000 }, async () => {
  const { page, context, problems } = await site.open({ hash: "#benchmark" });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Measure" }).click();
  await page.locator("#benchmark-state").filter({ hasText: "Done" }).waitFor({ timeout: 200_000 });
  await page.getByRole("button", { name: "Copy as Markdown" }).click();
  await page.locator("#benchmark-state").filter({ hasText: "Copied" }).waitFor();
  const text = await page.evaluate(() => navigator.clipboard.readText());
  const rows = text.split("\n").filter((line) => /^\| \(/.test(line));
  assert.equal(rows.length, 5 * 3);
  for (const row of rows) {
    const [, , , full, , causal, , ceiling] = row.split("|").map((cell) => cell.trim());
    for (const figure of [full, causal, ceiling]) assert.ok(Number(figure) > 0, row);
  }
  assert.equal(await page.locator(".bars .track").count(), 5 * 3 * 2);
  assert.ok((await overflow(page)) <= 0);
  assert.deepEqual(await accessibilityProblems(page), []);
  assert.deepEqual(problems, []);
  await context.close();
});

test("injected markup changes no address and sends no form", async () => {
  const { page, context } = await site.open();
  await answerIs(page, "2024-02-03");
  const { base, blocked } = await page.evaluate(async () => {
    const blocked = [];
    document.addEventListener("securitypolicyviolation", (event) => blocked.push(event.effectiveDirective));
    document.head.insertAdjacentHTML("afterbegin", '<base href="https://example.invalid/">');
    const base = document.baseURI;
    document.querySelector("base").remove();
    document.body.insertAdjacentHTML("beforeend", `<form action="${location.href}?sent"><input name="text"></form>`);
    document.querySelector("form[action]").submit();
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { base, blocked };
  });
  assert.equal(base, site.url);
  assert.deepEqual([...new Set(blocked)], ["base-uri", "form-action"]);
  assert.equal(page.url(), site.url);
  await context.close();
});

test("works without a network after the first load", async () => {
  const { page, context, problems } = await site.open();
  await answerIs(page, "2024-02-03");
  await serviceWorker(page);
  await context.setOffline(true);
  await page.goto(`${site.url}?again`);
  await answerIs(page, "2024-02-03");
  await page.getByLabel("A date, as you would write it").fill("5 may 2001");
  await answerIs(page, "2001-05-05");
  for (const name of ["Sentences", "Words", "Benchmark"]) {
    await page.getByRole("tab", { name }).click();
    await page.getByRole("tabpanel", { name }).waitFor();
  }
  await page.getByRole("row", { name: "scalar" }).first().waitFor();
  assert.deepEqual(
    problems.filter((text) => !text.includes("ERR_INTERNET_DISCONNECTED")),
    [],
  );
  await context.close();
});

test("a changed page is shown at the next load, despite stored files", async () => {
  const copy = mkdtempSync(join(tmpdir(), "ladon-page-"));
  cpSync(folder, copy, { recursive: true });
  const other = await startPage(copy);
  try {
    const { page } = await other.open();
    await answerIs(page, "2024-02-03");
    await serviceWorker(page);
    const file = join(copy, "index.html");
    writeFileSync(file, readFileSync(file, "utf8").replace("Read a date", "Read any date"));
    await page.reload();
    await page.getByRole("heading", { name: "Read any date" }).waitFor();
  } finally {
    await other.stop();
    rmSync(copy, { recursive: true });
  }
});
