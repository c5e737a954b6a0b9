// node --test run.mjs: tests the package and every tab of the page in the browsers that LADON_BROWSERS names, separated
// by commas, with and without a Content-Security-Policy. If LADON_BROWSERS_QUICK is set, the benchmark of the page
// measures only its first shape. LADON_SCREENSHOTS names a folder for pictures of the tabs.
import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { serve } from "../../tools/serve.mjs";
import { outputs } from "./checks.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' https:";
// With these headers, a page is cross-origin isolated, so that workers can share memory.
const isolation = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };
const isQuick = Boolean(process.env.LADON_BROWSERS_QUICK);
const screenshots = process.env.LADON_SCREENSHOTS;
if (screenshots) mkdirSync(screenshots, { recursive: true });
let wanted;
before(async () => {
  wanted = await outputs("scalar");
});

function agree(found, what) {
  assert.deepEqual(Object.keys(found), Object.keys(wanted), what);
  for (const [name, { y, isWarm }] of Object.entries(found)) {
    assert.ok(isWarm, `${what}, ${name}: the warm-up`);
    assert.equal(y.length, wanted[name].y.length);
    const size = Math.max(...wanted[name].y.map(Math.abs));
    // The roundings of float32 can move a number that is quantised to 7 bits by one step.
    const bound = size * (name.endsWith("int8") ? 0.02 : 1e-4);
    y.forEach((value, i) => assert.ok(Math.abs(value - wanted[name].y[i]) <= bound, `${what}, ${name}[${i}]: ${value}`));
  }
}

/** The text of a function that waits in the page until `condition` gives a value that is not false. */
const until = (condition, seconds = 30) => `
  for (const end = Date.now() + ${1000 * seconds}; ; await new Promise((resolve) => setTimeout(resolve, 100))) {
    const found = (() => { ${condition} })();
    if (found) return found;
    if (Date.now() > end) throw new Error("not in ${seconds} s: " + document.querySelector("[role=tabpanel]:not([hidden])")?.innerText.slice(0, 500));
  }`;

/** What a tab must show. Other tabs only need a panel without an error. */
const contents = {
  Dates: `return document.body.innerText.includes("2024-02-03")`,
  Sentences: `return document.querySelector("#example-ranking li")`,
  Words: `const [fetch, tools, recordings, answer] = ["fetch", "tools", "recordings", "answer"].map((id) => document.querySelector("#keyword-" + id));
    return fetch.checkVisibility() || (tools.checkVisibility() && (recordings.hidden || answer.textContent !== ""))`,
  Benchmark: `return document.querySelectorAll("#benchmark-table .bar").length > 20`,
};

/** The buttons whose text has a contrast ratio (WCAG 2.2) below 3 to its background. */
const unreadable = `
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const luminance = (colour) => {
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((c) => (c <= 10 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.05 + 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  return [...document.querySelectorAll("button")].filter((one) => {
    const { color, backgroundColor } = getComputedStyle(one);
    if (/^rgba.*, 0[)]$/.test(backgroundColor)) return false;
    const ratio = luminance(color) / luminance(backgroundColor);
    return ratio > 1 / 3 && ratio < 3;
  }).map((one) => one.textContent.trim()).join();`;

const figures = `[...document.querySelectorAll("#benchmark-table .bar .figure")].map((one) => one.textContent.trim())
  .filter((text) => text && text !== "not in this browser")`;

// Other programs of the machine can slow the measurement of the ceiling, so a share may exceed 100%.
function checkFigures(texts, least) {
  assert.ok(texts.length >= least, `${texts}`);
  for (const text of texts) {
    const [, rate, share] = /^([\d.]+) (\d+)% of the ceiling$/.exec(text) ?? assert.fail(`a figure of the benchmark: ${text}`);
    assert.ok(Number(rate) > 0 && Number(share) > 0, text);
  }
}

async function testPackage(driver, url, isShort) {
  await driver.open(`${url}tests/browsers/blank.html`);
  const run = (call) => driver.run(`const checks = await import("${url}tests/browsers/checks.mjs"); return await checks.${call};`);
  const variants = await run("supported()");
  assert.ok(variants.includes("simd") && variants.includes("scalar"), `${variants}`);
  for (const variant of isShort ? [] : variants) agree(await run(`outputs("${variant}")`), variant);
  agree(await run("outputs()"), "the default variant");
  agree(await run("outputsOfWorker()"), "a worker");
  const { reason, ...found } = await run("threads()");
  const { sharesMemory = true } = driver;
  assert.deepEqual(found, { threads: sharesMemory ? 2 : 1, isEqual: true });
  assert.equal(reason, sharesMemory ? null : "no SharedArrayBuffer in this browser, although the page is cross-origin isolated");
  assert.equal(await run("readDate()"), "2024-02-03");
  assert.ok(["opened", "microphone"].includes(await run("openMicrophone()")));
}

async function testPage(driver, url, name) {
  await driver.open(url);
  const tabs = await driver.run(`return [...document.querySelectorAll("[role=tab]")].map((one) => one.textContent.trim());`);
  assert.ok(tabs.length >= 4, `${tabs}`);
  assert.equal(await driver.run(unreadable), "", "buttons whose text is unreadable");
  for (const tab of tabs) {
    await driver.run(`[...document.querySelectorAll("[role=tab]")].find((one) => one.textContent.trim() === ${JSON.stringify(tab)}).click();`);
    await driver.run(until(contents[tab] ? `${contents[tab]} ? "shown" : false;` : `return "shown";`));
    const { width, problem } = await driver.run(`return { width: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      problem: [...document.querySelectorAll("[role=alert]")].filter((one) => one.checkVisibility()).map((one) => one.textContent.trim()).join() };`);
    assert.equal(problem, "", `${tab} shows an error`);
    assert.ok(width <= 0, `${tab} is ${width} pixels wider than the window`);
    if (screenshots) await driver.screenshot(join(screenshots, `${name}-${tab.toLowerCase()}.png`));
  }
  await driver.run(`document.querySelector("#benchmark-run").click();`);
  if (isQuick) {
    checkFigures(await driver.run(until(`const found = ${figures}; return found.length >= 2 && found;`, 100), 110_000), 2);
    await driver.run(`document.querySelector("#benchmark-run").click();`);
  } else {
    await driver.run(until(`return document.querySelector("#benchmark-state").textContent.startsWith("Done");`, 400), 410_000);
    checkFigures(await driver.run(`return ${figures};`), 20);
    if (screenshots) await driver.screenshot(join(screenshots, `${name}-figures.png`));
  }
}

/** Writes a story with the likeliest words, which are the same in every browser. */
async function testStories(driver, url) {
  await driver.open(url);
  await driver.run(`document.querySelector("#tab-stories").click();`);
  await driver.run(until(`return !document.querySelector("#story-write").disabled;`));
  await driver.run(`document.querySelector("#story-write").click();`);
  await driver.run(until(`return document.querySelector("#story-text").ariaBusy === "false";`));
  const story = await driver.run(`return document.querySelector("#story-text").textContent;`);
  assert.match(story, /^Once upon a time, there was a little girl named Lily[.] She loved to play/);
  assert.equal(await driver.run(`return document.querySelector("#stories-problem").hidden;`), true);
}

const stories = here("../../dist/demo/stories");
const skipWithoutStories = existsSync(stories)
  ? false
  : "the page has no tab of stories, because the model stories260K was not there (LADON_STORIES_DIR)";

for (const name of (process.env.LADON_BROWSERS ?? "chromium,firefox,webkit").split(",")) {
  const { program, start } = await import(`./${name}.mjs`);
  const skip = existsSync(program) ? false : `there is no ${program}`;
  describe(name, { skip }, () => {
    let driver;
    before(async () => {
      driver = await start();
    });
    after(() => driver?.stop());
    for (const [what, headers] of [
      ["with a Content-Security-Policy", { "content-security-policy": policy }],
      ["without a policy", {}],
    ]) {
      const at = async (folder, act) => {
        const { url, close, server } = await serve(folder, { headers: { ...headers, ...isolation } });
        try {
          await act(url);
          assert.deepEqual(driver.problems.splice(0), []);
        } finally {
          close();
          server.closeAllConnections?.();
        }
      };
      test(`the package, ${what}`, { timeout: 240_000 }, () => at(here("../.."), (url) => testPackage(driver, url, isQuick && !headers["content-security-policy"])));
      test(`the page, ${what}`, { timeout: 600_000 }, () => at(here("../../dist/demo"), (url) => testPage(driver, url, name)));
      test(`the tab of stories, ${what}`, { skip: skipWithoutStories, timeout: 120_000 }, () =>
        at(here("../../dist/demo"), (url) => testStories(driver, url)));
    }
  });
}
