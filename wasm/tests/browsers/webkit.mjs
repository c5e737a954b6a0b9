// Drives WebKitGTK by WebDriver (https://www.w3.org/TR/webdriver2/). WebKitGTK needs a display, so it runs in Xvfb.
import { writeFileSync } from "node:fs";
import { limit, startProgram, within } from "./program.mjs";

export const program = process.env.LADON_WEBKIT_DRIVER ?? "/usr/bin/WebKitWebDriver";

/** Returns a function that sends a command of WebDriver, and returns its result. */
const sender = (url, failed) => async (method, path, body, milliseconds = limit) => {
  const request = fetch(`${url}${path}`, {
    method,
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(milliseconds),
  });
  const response = await within(Promise.race([request, failed]), `WebKit, ${path}`, milliseconds);
  const { value } = await response.json();
  if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
  return value;
};

export async function start() {
  const port = 20_000 + (process.pid % 20_000);
  const display = `:${100 + (process.pid % 10_000)}`;
  const screen = startProgram("Xvfb", () => [display, "-screen", "0", "1280x1024x24", "-nolisten", "tcp", "-displayfd", "1"]);
  let driver;
  const stop = async () => {
    await driver?.stop();
    await screen.stop();
  };
  try {
    await screen.said(/^\d+$/m);
    driver = startProgram(program, () => [`--port=${port}`, "--host=127.0.0.1"], { DISPLAY: display, GDK_BACKEND: "x11" });
    const send = sender(`http://127.0.0.1:${port}`, driver.failed);
    const isReady = () => send("GET", "/status", undefined, 2000).then(() => true, () => false);
    const end = Date.now() + limit;
    while (!(await isReady()) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 100));
    const { sessionId } = await send("POST", "/session", { capabilities: { alwaysMatch: {} } });
    const session = `/session/${sessionId}`;
    await send("POST", `${session}/timeouts`, { script: 600_000, pageLoad: 60_000 });
    const run = async (body, milliseconds) => {
      const script = `const done = arguments[0];
          (async () => { ${body} })().then((value) => done(JSON.stringify({ value: value ?? null })), (error) => done(JSON.stringify({ error: String(error) })));`;
      const { value, error } = JSON.parse(await send("POST", `${session}/execute/async`, { script, args: [] }, milliseconds));
      if (error) throw new Error(`in the page: ${error}`);
      return value;
    };
    return {
      problems: [], // WebDriver does not tell errors of the page
      sharesMemory: false, // WebKitGTK 2.50 under WebDriver has no SharedArrayBuffer, even in an isolated page
      async open(url) {
        await send("POST", `${session}/url`, { url });
        // WebKitGTK 2.50 may answer shortly before the page has loaded.
        await run(`if (document.readyState !== "complete") await new Promise((resolve) => addEventListener("load", resolve));`);
      },
      run,
      async screenshot(path) {
        writeFileSync(path, Buffer.from(await send("GET", `${session}/screenshot`), "base64"));
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
