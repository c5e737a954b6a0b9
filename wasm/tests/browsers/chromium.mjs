// Drives Chromium by playwright-core.
import { chromium } from "playwright-core";
import { flags } from "../page/chromium.mjs";
import { within } from "./program.mjs";

export const program = process.env.LADON_CHROMIUM ?? "/usr/bin/chromium";

export async function start() {
  const browser = await chromium.launch({ executablePath: program, args: flags });
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const problems = [];
  page.on("pageerror", (error) => problems.push(error.message));
  return {
    problems,
    open: (url) => page.goto(url, { timeout: 60_000 }),
    /** Runs the text of the body of an async function in the page. Returns what the function returns, as JSON. */
    run: (body, milliseconds) => within(page.evaluate(`(async () => { ${body} })()`), "Chromium", milliseconds),
    screenshot: (path) => page.screenshot({ path }),
    stop: () => within(browser.close(), "Chromium ends", 10_000).catch(() => undefined),
  };
}
