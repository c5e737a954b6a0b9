// Drives Firefox by WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/), which needs no program beside Firefox.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import WebSocket from "ws";
import { startProgram, within } from "./program.mjs";

const names = [process.env.LADON_FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"].filter(Boolean);
export const program = names.find(existsSync) ?? names[0];

const preferences = `user_pref("app.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("media.navigator.permission.disabled", true);
user_pref("media.navigator.streams.fake", true);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("remote.active-protocols", 1);
user_pref("toolkit.telemetry.enabled", false);
`;

/** Opens a connection. `send` sends a command, and returns its result. `onEvent` gets the events. */
async function connect(url, failed, onEvent) {
  const socket = new WebSocket(url);
  const waiting = new Map();
  await within(Promise.race([new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject)), failed]), url);
  socket.on("error", () => undefined); // the program's end is told by `failed`
  socket.on("message", (data) => {
    const message = JSON.parse(data);
    if (message.type === "event") return onEvent(message);
    const { resolve, reject } = waiting.get(message.id);
    waiting.delete(message.id);
    if (message.type === "success") resolve(message.result);
    else reject(new Error(`${message.error}: ${message.message}`));
  });
  let id = 0;
  return (method, params, milliseconds) => {
    const answer = new Promise((resolve, reject) => waiting.set(++id, { resolve, reject }));
    socket.send(JSON.stringify({ id, method, params }));
    return within(Promise.race([answer, failed]), `Firefox, ${method}`, milliseconds);
  };
}

export async function start() {
  const firefox = startProgram(program, (home) => {
    writeFileSync(join(home, "user.js"), preferences);
    return ["--headless", "--no-remote", "--width=1280", "--height=900", "--remote-debugging-port=0", "--profile", home];
  });
  try {
    const [, url] = await firefox.said(/WebDriver BiDi listening on (ws:\S+)/);
    const problems = [];
    const send = await connect(`${url}/session`, firefox.failed, ({ params }) => {
      if (params.type === "javascript" && params.level === "error") problems.push(params.text);
    });
    await send("session.new", { capabilities: {} });
    await send("session.subscribe", { events: ["log.entryAdded"] });
    const { context } = await send("browsingContext.create", { type: "tab" });
    return {
      problems,
      open: (page) => send("browsingContext.navigate", { context, url: page, wait: "complete" }),
      async run(body, milliseconds) {
        const expression = `(async () => { ${body} })().then((value) => JSON.stringify(value ?? null))`;
        const params = { expression, target: { context }, awaitPromise: true, userActivation: true };
        const { type, result, exceptionDetails } = await send("script.evaluate", params, milliseconds);
        if (type !== "success") throw new Error(`in the page: ${exceptionDetails.text}`);
        return JSON.parse(result.value);
      },
      async screenshot(path) {
        const { data } = await send("browsingContext.captureScreenshot", { context });
        writeFileSync(path, Buffer.from(data, "base64"));
      },
      stop: firefox.stop,
    };
  } catch (error) {
    await firefox.stop();
    throw error;
  }
}
