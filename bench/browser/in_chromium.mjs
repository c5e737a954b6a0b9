// Starts headless Chromium and runs each of `tasks` in a worker of a new page.
import {existsSync} from "node:fs";
import {readFile} from "node:fs/promises";
import {createServer} from "node:http";
import {createRequire} from "node:module";
import {dirname, extname, join, normalize} from "node:path";
import {fileURLToPath} from "node:url";

// The server offers both folders under their paths in the repository, so that files in one folder can import files in
// the other.
const here = fileURLToPath(new URL(".", import.meta.url));
const engine = fileURLToPath(new URL("../../wasm/engine", import.meta.url));
const types = {".mjs": "text/javascript", ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html"};
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
               "--disable-component-update", "--disable-sync"];

export async function inChromium({build, index, tasks}, report) {
  const executablePath = process.env.LADON_CHROMIUM ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) throw new Error(`there is no ${executablePath} (LADON_CHROMIUM names another)`);
  if (!existsSync(join(build, "node_modules/playwright-core"))) throw new Error("playwright-core is not installed");
  const {chromium} = createRequire(join(build, "package.json"))("playwright-core");
  const server = await serve({"/bench/browser/": here, "/wasm/engine/": engine, "/build/": build,
                              "/binding/": dirname(index)});
  const browser = await chromium.launch({executablePath, args: flags});
  try {
    report({engine: `Chromium ${browser.version()}`});
    for (const [task, options] of tasks) {
      const page = await browser.newPage();
      await runTask(page, `http://127.0.0.1:${server.address().port}/`, {task, options}, report);
      await page.close();
    }
  } finally {
    await browser.close();
    server.close();
  }
}

async function runTask(page, url, message, report) {
  let finish;
  const finished = new Promise((resolve, reject) => {
    finish = ({done, error}) => error ? reject(new Error(error)) : done && resolve();
  });
  await page.exposeFunction("report", said => said.done || said.error ? finish(said) : report(said));
  page.on("console", said => {  // LiteRT.js writes all messages as errors
    if (said.type() === "error" && !/^(INFO|WARNING): /.test(said.text())) report({message: said.text()});
  });
  page.on("crash", () => finish({error: "the page crashed"}));
  page.on("close", () => finish({error: "the browser ended"}));  // no effect after the end of the task
  await page.goto(url);
  await page.evaluate(task => {
    const worker = new Worker("/bench/browser/worker.mjs", {type: "module"});
    worker.onmessage = ({data}) => globalThis.report(data);
    worker.onerror = ({message}) => globalThis.report({error: message || "the worker does not load"});
    worker.postMessage(task);
  }, message);
  await finished;
}

// Serves the folders. The HTTP headers of the responses isolate the page from other sites. In an isolated page, the
// clock has a resolution of 5 microseconds instead of 100.
function serve(folders) {
  const headers = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp",
                   "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store"};
  const server = createServer(async ({url}, response) => {
    const path = normalize(decodeURIComponent(new URL(url, "http://localhost").pathname));
    const prefix = Object.keys(folders).find(each => path.startsWith(each));
    try {
      const body = path === "/" ? '<!doctype html><title>Ladon</title><link rel="icon" href="data:,">' :
                                  await readFile(join(folders[prefix], path.slice(prefix.length)));
      response.writeHead(200, {...headers, "Content-Type": types[extname(path)] ?? "text/html"}).end(body);
    } catch {
      response.writeHead(404, headers).end();
    }
  });
  return new Promise(resolve => server.listen(0, "127.0.0.1", () => resolve(server)));
}
