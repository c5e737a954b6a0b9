// Opens the page in Chromium for tests.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { serve } from "../../tools/serve.mjs";

export const folder = fileURLToPath(new URL("../../dist/demo", import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// The Content-Security-Policy that the server sends in a header. The server serves the page below /some/where/, because
// a project page is usually not at "/" of its host.
const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' https:";

export const flags = (
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking " +
  "--disable-component-update --disable-sync"
).split(" ");

/** Serves the folder `served`, and starts Chromium with the flags and `more`. */
export async function startPage(served = folder, more = []) {
  const { url, close } = await serve(served, {
    path: "/some/where/",
    headers: { "content-security-policy": policy },
  });
  const browser = await chromium.launch({
    executablePath: process.env.LADON_CHROMIUM ?? "/usr/bin/chromium",
    args: [...flags, ...more],
  });

  /**
   * Opens the page in a window of the width `width`, and collects all errors and warnings of the page in `problems`.
   */
  async function open({ width = 1280, hash = "", ...more } = {}) {
    const context = await browser.newContext({ viewport: { width, height: 844 }, ...more });
    const page = await context.newPage();
    const problems = [];
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    await page.goto(url + hash);
    return { page, context, problems };
  }

  return {
    url,
    open,
    async stop() {
      await browser.close();
      close();
    },
  };
}

/**
 * Returns the problems that axe-core, a checker of accessibility, finds. With `rules`, axe-core checks only these of its
 * rules. The debugger injects axe-core into the page, because the page's Content-Security-Policy does not restrict the
 * debugger.
 */
export async function accessibilityProblems(page, rules) {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  const { violations } = await page.evaluate((runOnly) => globalThis.axe.run(runOnly ? { runOnly } : {}), rules);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`),
  );
}

/**
 * Returns the problems of the page in the light and in the dark colour scheme. Only contrasts depend on the colours, so
 * axe-core checks only contrasts in the dark scheme. Open the page with `reducedMotion: "reduce"`: otherwise, colours
 * change in a transition, and axe-core would see colours between the schemes.
 */
export async function problemsOfBothSchemes(page) {
  const light = await accessibilityProblems(page);
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await accessibilityProblems(page, ["color-contrast"]);
  await page.emulateMedia({ colorScheme: "light" });
  return [...light, ...dark];
}

/** Returns the number of pixels by which the page is wider than the window. */
export const overflow = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/**
 * Returns the controls and links that are smaller than 44 x 44 px. For a control inside a label, the size of the label
 * counts. The eight digits (.digit) and the twelve heads (.head) need only the height, because they share the width of
 * the page.
 */
export const smallTargets = (page) =>
  page.evaluate(() => {
    const selector =
      "a[href]:not(.skip), button, summary, textarea, input:not(.unseen), label:has(input), label.button";
    return [...document.querySelectorAll(selector)]
      .filter((element) => element.checkVisibility() && !element.matches("label input"))
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ element, box: { width, height } }) => {
        return height < 43.9 || (width < 43.9 && !element.matches(".digit, .word-heads .head"));
      })
      .map(({ element, box: { width, height } }) => `${element.outerHTML.slice(0, 80)}: ${width} x ${height}`);
  });
