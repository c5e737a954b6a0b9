// Tests the packed tarball in fresh projects of users: Node and a worker of Node, Deno, Bun, a page without a bundler,
// a Web Worker, Vite, webpack, esbuild, tsc. The Content-Security-Policy of the pages lets them compile WebAssembly,
// but not JavaScript from text.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { safetensors } from "./safetensors.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const require = createRequire(import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "ladon-consumers-"));
const npm = (args, cwd) =>
  execFileSync("npm", [...args, "--offline", "--no-audit", "--no-fund"], { cwd, encoding: "utf8" });
const node = (args, cwd) => execFileSync(process.execPath, args, { cwd, encoding: "utf8" });

const filled = (count, scale) => Float32Array.from({ length: count }, (_, i) => scale * Math.sin(i));
const file = safetensors([
  ["in_proj_weight", [192, 64], filled(192 * 64, 0.1)],
  ["in_proj_bias", [192], filled(192, 1)],
  ["out_proj.weight", [64, 64], filled(64 * 64, 0.1)],
  ["out_proj.bias", [64], filled(64, 1)],
]);
const shippedAttentions = Object.keys(JSON.parse(readFileSync(here("../modules.json"), "utf8"))).filter((name) => /^attention/.test(name));
let tarball;
let wanted;

/** A file with the tensors of KWT-1, whose numbers are small and arbitrary. */
const keywordsFile = (() => {
  const layer = [
    ["self_attn.in_proj_weight", 192, 64],
    ["self_attn.out_proj.weight", 64, 64],
    ["self_attn.out_proj.bias", 64],
    ["linear1.weight", 256, 64],
    ["linear1.bias", 256],
    ["linear2.weight", 64, 256],
    ["linear2.bias", 64],
    ["norm1.weight", 64],
    ["norm1.bias", 64],
    ["norm2.weight", 64],
    ["norm2.bias", 64],
  ];
  const others = [
    ["class_token", 64],
    ["position", 99, 64],
    ["embed.weight", 64, 40],
    ["embed.bias", 64],
    ["head.weight", 12, 64],
    ["head.bias", 12],
  ];
  const layerOf = (i) => layer.map(([name, ...shape]) => [`layers.${i}.${name}`, ...shape]);
  const layers = Array.from({ length: 12 }, (_, i) => layerOf(i));
  const size = (shape) => shape.reduce((a, b) => a * b, 1);
  return safetensors([...others, ...layers.flat()].map(([name, ...shape]) => [name, shape, filled(size(shape), 0.1)]));
})();
/** Asserts that the logits of a consumer agree with those of the scalar variant in Node. */
const logitsAgree = ({ variant, logits }) => {
  assert.ok(["relaxed", "simd", "scalar"].includes(variant));
  assert.equal(logits.length, 12);
  logits.forEach((value, i) => {
    const expected = wanted.logits[i];
    assert.ok(Math.abs(value - expected) < 1e-3, `logit ${i} is ${value}, and ${expected} is expected`);
  });
};

let installed; // a node_modules that has the package

/**
 * Makes a fresh project with the package and `files`, which maps paths to texts. Returns the project's folder. npm
 * installs the package into the first project. The other projects get copies of the installed files.
 */
const project = (name, files) => {
  const at = join(folder, name);
  mkdirSync(at, { recursive: true });
  const dependencies = installed ? { ladon: `file:${tarball}` } : {}; // npm install adds the first project's dependency
  writeFileSync(join(at, "package.json"), JSON.stringify({ name, private: true, type: "module", dependencies }));
  if (installed) {
    cpSync(installed, join(at, "node_modules"), { recursive: true });
  } else {
    npm(["install", tarball], at);
    installed = join(folder, "installed");
    cpSync(join(at, "node_modules"), installed, { recursive: true });
  }
  for (const calls of ["attend.mjs", "spot.mjs"]) cpSync(here(`consumers/${calls}`), join(at, calls));
  writeFileSync(join(at, "model.safetensors"), file);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(at, path), text);
  return at;
};
/** Asserts that an answer of attend() agrees with the answer of the scalar variant in Node, up to roundings. */
const agrees = (answer) => {
  assert.ok(["relaxed", "simd", "scalar"].includes(answer.variant));
  for (const key of ["y", "after", "seen"]) {
    assert.equal(answer[key].length, wanted[key].length);
    answer[key].forEach((value, i) => assert.ok(Math.abs(value - wanted[key][i]) < 1e-4, `${key}[${i}] is ${value}`));
  }
  // The int8 kernel is of the same variant as the float32 kernel, or of the variant simd if the engine computes wrong
  // relaxed dot products.
  assert.ok([answer.variant, "simd"].includes(answer.int8), answer.int8);
  assert.ok([7, 8].includes(answer.activationBits));
  const { loaded, code, calls, minilm, unknown, team } = answer;
  assert.deepEqual(
    { loaded, code, calls, minilm, unknown, team },
    { loaded: file.length, code: "length", calls: true, minilm: 6, unknown: "unknown-kernel", team: [2, 384] },
  );
};

before(async () => {
  const [{ filename, files }] = JSON.parse(npm(["pack", "--json", "--pack-destination", folder], here("..")));
  tarball = join(folder, filename);
  const names = files.map(({ path }) => path);
  for (const name of [
    "README.md",
    "LICENSE",
    "package.json",
    "dist/index.js",
    "dist/index.d.ts",
    "dist/modules/minilm.simd.wasm",
  ]) {
    assert.ok(names.includes(name), `the tarball lacks ${name}`);
  }
  assert.ok(
    names.every((name) => !/^(src|tests|demo|node_modules)\//.test(name)),
    `${names}`,
  );
  const { load } = await import("../dist/index.js");
  const instance = (await load("attention_64_4", { variant: "scalar" })).create({ mask: "causal" });
  await instance.weights.load(file);
  const y = Array.from(instance.run(filled(192, 1), { tokens: 3, attention: true }));
  const { KeywordSpotter } = await import("../dist/keywords.js");
  const spotter = await KeywordSpotter.load({ weights: keywordsFile, variant: "scalar" });
  const chirp = Float32Array.from({ length: 16000 }, (_, i) => 0.5 * Math.sin(i * i * 1e-4)); // as in spot.mjs
  const logits = Array.from(spotter.spot(chirp).logits);
  wanted = { y, after: y, seen: Array.from(instance.attention().subarray(0, 3)), logits };
  assert.deepEqual(wanted.seen.slice(1), [0, 0], "causal");
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("Node", () => {
  const at = project("node", {
    "main.mjs": `import { readFileSync } from "node:fs";
      import { attend } from "./attend.mjs";
      console.log(JSON.stringify(await attend(new URL("./model.safetensors", import.meta.url))));`,
    "missing.mjs": `import "ladon/nothing";`,
  });
  agrees(JSON.parse(node(["main.mjs"], at)));
  assert.throws(
    () => execFileSync(process.execPath, ["missing.mjs"], { cwd: at, stdio: "pipe" }),
    /ERR_PACKAGE_PATH_NOT_EXPORTED/,
  );
});

/**
 * Finds another engine (Deno or Bun) in the folder consumers/runtimes/node_modules. Returns {program, skip}: `program`
 * is the first of `paths` that exists. If none exists, `skip` is the reason why the test is skipped. npm runs no
 * install scripts here. So each path leads into the npm package for one platform, and not into a package that chooses
 * the platform.
 */
const engine = (...paths) => {
  const folder = here("consumers/runtimes/node_modules");
  const program = paths.map((path) => join(folder, path)).find(existsSync);
  return { program, skip: program ? false : `there is no ${join(folder, paths[0])}` };
};
const deno = engine("@deno/linux-x64-glibc/deno", "@deno/linux-arm64-glibc/deno", "@deno/darwin-arm64/deno");
const bun = engine("@oven/bun-linux-x64/bin/bun", "@oven/bun-linux-aarch64/bin/bun", "@oven/bun-darwin-aarch64/bin/bun");
for (const [name, { program, skip }, args] of [
  ["Deno", deno, ["run", "--cached-only", "--no-prompt", "--allow-read"]],
  ["Bun", bun, ["run", "--no-install"]],
]) {
  test(name, { skip }, () => {
    const at = project(name.toLowerCase(), {
      "main.mjs": `import { attend } from "./attend.mjs";
        console.log(JSON.stringify(await attend(new URL("./model.safetensors", import.meta.url))));`,
      "path.mjs": `import { attend } from "./attend.mjs";
        console.log(JSON.stringify(await attend("model.safetensors")));`,
    });
    const env = { ...process.env, DENO_DIR: join(folder, "deno-cache"), DENO_NO_UPDATE_CHECK: "1" };
    const answer = (file) => JSON.parse(execFileSync(program, [...args, file], { cwd: at, encoding: "utf8", env }));
    agrees(answer("main.mjs"));
    agrees(answer("path.mjs"));
  });
}

// workerd compiles no WebAssembly at run time, gives files no addresses, and stops its clock while code runs.
const workerd = engine(
  "@cloudflare/workerd-linux-64/bin/workerd",
  "@cloudflare/workerd-linux-arm64/bin/workerd",
  "@cloudflare/workerd-darwin-arm64/bin/workerd",
);
test("workerd: imported modules run, and other sources give errors of the package", { skip: workerd.skip }, async () => {
  const at = project("workerd", {
    "main.mjs": `import { load, LadonError } from "ladon";
      import { DateReader } from "ladon/date-reader";
      import { KeywordSpotter } from "ladon/keywords";
      import { loadKernel } from "ladon/minilm";
      import int8 from "./attention_384_12_int8.relaxed.wasm";
      import simd from "./attention_64_4.simd.wasm";
      import date from "./date_reader.simd.wasm";
      import weights from "./date_reader.bin";
      const codeOf = (act) => act().then(() => "none", (error) => (error instanceof LadonError ? error.code : String(error)));
      export default { async test() {
        const kernel = await load(simd);
        const instance = kernel.create({ mask: "causal" });
        const filled = (count, scale) => Float32Array.from({ length: count }, (_, i) => scale * Math.sin(i));
        instance.weights.set({ in_proj_weight: filled(192 * 64, 0.1), in_proj_bias: filled(192, 1),
          "out_proj.weight": filled(64 * 64, 0.1), "out_proj.bias": filled(64, 1) });
        const y = Array.from(instance.run(filled(192, 1), { tokens: 3 }));
        const { calls } = await kernel.warmUp({ most: 200 });
        const relaxed = WebAssembly.Module.customSections(int8, "ladon").length && (await load(int8)).description;
        const reader = await DateReader.load({ kernel: await load(date), weights: new Uint8Array(weights) });
        console.log("ANSWER" + JSON.stringify({ y, calls: calls > 0, bits: relaxed.activationBits,
          date: reader.read("3rd of Feb, 2024").date,
          codes: [await codeOf(() => load(weights)), await codeOf(() => load("attention_64_4")), await codeOf(() => DateReader.load()),
            await codeOf(() => loadKernel({ precision: "int8" })), await codeOf(() => load("/k")), await codeOf(() => load(copy)),
            await codeOf(() => KeywordSpotter.load({ weights: new Uint8Array(8) }))] }));
      } };
      import copy from "./attention_64_4.bin";`,
  });
  const embedded = ["attention_384_12_int8.relaxed", "attention_64_4.simd", "date_reader.simd"].map((name) => {
    cpSync(join(at, `node_modules/ladon/dist/modules/${name}.wasm`), join(at, `${name}.wasm`));
    return `(name = "${name}.wasm", wasm = embed "${name}.wasm")`;
  });
  cpSync(join(at, "attention_64_4.simd.wasm"), join(at, "attention_64_4.bin"));
  cpSync(join(at, "node_modules/ladon/dist/models/date_reader.safetensors"), join(at, "date_reader.bin"));
  for (const name of ["attention_64_4.bin", "date_reader.bin"]) embedded.push(`(name = "${name}", data = embed "${name}")`);
  await esbuild(at, { format: "esm", external: ["*.wasm", "*.bin"] });
  writeFileSync(
    join(at, "config.capnp"),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [(name = "main", worker = (compatibilityDate = "2026-11-01",
  modules = [(name = "main", esModule = embed "dist/main.js"), ${embedded.join(", ")}]))]);`,
  );
  const told = execFileSync(workerd.program, ["test", "config.capnp"], { cwd: at, encoding: "utf8", stdio: "pipe" });
  const { y, ...others } = JSON.parse(/ANSWER(.*)/.exec(told)[1]);
  y.forEach((value, i) => assert.ok(Math.abs(value - wanted.y[i]) < 1e-4, `y[${i}] is ${value}`));
  const unsupported = Array(5).fill("unsupported");
  assert.deepEqual(others, {
    calls: true,
    bits: 7,
    date: "2024-02-03",
    codes: ["not-a-module", ...unsupported, "unsupported"],
  });
});

test("a worker of Node", () => {
  const at = project("node-worker", {
    "main.mjs": `import { Worker } from "node:worker_threads";
      import { load } from "ladon";
      const { module } = await load("attention_64_4");
      new Worker(new URL("./worker.mjs", import.meta.url), { workerData: module })
        .on("message", (answer) => console.log(answer)).on("error", (error) => { throw error; });`,
    "worker.mjs": `import { parentPort, workerData } from "node:worker_threads";
      import { load } from "ladon";
      import { attend } from "./attend.mjs";
      const { description } = await load(workerData); // compiled once, in the main thread
      if (description.name !== "attention_64_4") throw new Error(description.name);
      parentPort.postMessage(JSON.stringify(await attend(new URL("./model.safetensors", import.meta.url))));`,
  });
  agrees(JSON.parse(node(["main.mjs"], at)));
});

test("tsc --strict", () => {
  const at = project("types", { "example.ts": readFileSync(here("consumers/example.ts")) });
  const page = ["--lib", "es2022,dom"];
  const server = ["--lib", "es2022", "--types", "node", "--typeRoots", here("../node_modules/@types")];
  const flags = ["--noEmit", "--strict", "--target", "es2022", "--skipDefaultLibCheck"];
  const nodenext = ["--module", "nodenext"];
  const bundler = ["--module", "esnext", "--moduleResolution", "bundler"];
  // Compiles example.ts with the newest TypeScript, and with the oldest TypeScript that can read the types of the
  // package. skipLibCheck is off, so the compiler checks the types of the package, too. skipDefaultLibCheck omits only
  // TypeScript's own types, whose check takes half of the time.
  // If the compiler did not find the types of the package, `load` would have the type `any`, and the lines of example.ts
  // with @ts-expect-error would compile, which is an error.
  for (const version of ["typescript", "typescript-5.2"]) {
    const tsc = (...options) => node([require.resolve(`${version}/bin/tsc`), ...flags, ...options, "example.ts"], at);
    if (version === "typescript") {
      tsc(...server, ...nodenext);
      tsc(...page, ...bundler);
    } else {
      tsc(...page, ...nodenext);
    }
  }
});

const types = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};
const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";

// With these headers, a page is cross-origin isolated, so that workers can share memory.
const isolation = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };

/** Serves a folder with the Content-Security-Policy `csp`. Calls `act` with the address of the server. */
const serving = async (root, act, { csp = policy, mime = types } = {}) => {
  const asked = [];
  const server = createServer((request, response) => {
    const path = join(root, decodeURIComponent(new URL(request.url, "http://a").pathname));
    asked.push(request.url);
    if (!path.startsWith(root) || !existsSync(path)) return response.writeHead(404).end();
    const type = mime[extname(path)] ?? "application/octet-stream";
    const headers = { "content-type": type, "content-security-policy": csp, ...isolation };
    response.writeHead(200, headers).end(readFileSync(path));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await act(`http://127.0.0.1:${server.address().port}`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

const chromium = process.env.LADON_CHROMIUM ?? "/usr/bin/chromium";
const inChromium = { skip: existsSync(chromium) ? false : `no Chromium at ${chromium} (LADON_CHROMIUM names another)` };

const browsers = new Map(); // for each list of further flags, a promise of a browser
const browserWith = async (moreFlags) => {
  const { chromium: playwright } = await import("playwright-core");
  const flags = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ];
  return playwright.launch({ executablePath: chromium, headless: true, args: ["--no-sandbox", ...flags, ...moreFlags] });
};
after(async () => {
  for (const browser of browsers.values()) await (await browser).close();
});

/**
 * Opens a page in a new context of the browser, which has no files of earlier pages. Returns the content of
 * document.title after the page is done: an answer, or an error.
 */
const titleOf = async (url, moreFlags = []) => {
  const key = moreFlags.join(" ");
  if (!browsers.has(key)) browsers.set(key, browserWith(moreFlags));
  const context = await (await browsers.get(key)).newContext();
  try {
    const page = await context.newPage();
    const said = [];
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(`${error}`));
    await page.goto(url);
    await page
      .waitForFunction(() => document.title.startsWith("{"), undefined, { timeout: 60000 })
      .catch((error) => {
        throw new Error(`${error.message}\nthe page said: ${said.join("\n")}`);
      });
    return JSON.parse(await page.title());
  } finally {
    await context.close();
  }
};

const pageOf = (script) => `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">${script}`;
const main = (attend) => `import { attend } from "${attend}";
  const tell = (answer) => (document.title = JSON.stringify(answer));
  attend("./model.safetensors").then(tell, (error) => tell({ error: String(error), cause: String(error.cause) }));`;
// Without a bundler, a browser cannot resolve the names "ladon" and "ladon/minilm". So the page imports the files by their paths.
const withoutNames = (at) => {
  const text = readFileSync(join(at, "attend.mjs"), "utf8")
    .replace('"ladon"', '"./node_modules/ladon/dist/index.js"')
    .replace('"ladon/minilm"', '"./node_modules/ladon/dist/minilm.js"');
  writeFileSync(join(at, "attend.mjs"), text);
};

test("a page without a bundler", inChromium, async () => {
  const at = project("page", {
    "index.html": pageOf(`<script type="module" src="main.mjs"></script>`),
    "main.mjs": main("./attend.mjs"),
  });
  withoutNames(at);
  await serving(at, async (url, asked) => {
    const answer = await titleOf(`${url}/index.html`);
    agrees(answer);
    assert.equal(answer.variant, "relaxed", "Chromium has relaxed SIMD");
    assert.equal(answer.int8, "relaxed", "Chromium's relaxed dot is exact for 7 bits");
    assert.ok(asked.includes("/node_modules/ladon/dist/modules/attention_64_4.relaxed.wasm"), `${asked}`);
  });
  // Tests a server that does not know the type of .wasm files.
  await serving(at, async (url) => agrees(await titleOf(`${url}/index.html`)), {
    mime: { ...types, ".wasm": "text/plain" },
  });
  // With a policy that forbids WebAssembly, `load` must throw an error. It must not wait forever.
  await serving(
    at,
    async (url) => {
      const { error } = await titleOf(`${url}/index.html`);
      assert.match(error, /LadonError|CompileError/);
      assert.match(error, /Content Security Policy|unsupported|unsafe-eval/i);
    },
    { csp: "default-src 'self'" },
  );
});

test("a page with a base", inChromium, async () => {
  const at = project("base", {
    "index.html": pageOf(`<base href="/under/"><script type="module" src="/main.mjs"></script>`),
    "main.mjs": `import { load } from "/node_modules/ladon/dist/index.js";
      const tell = (answer) => (document.title = JSON.stringify(answer));
      try {
        const { description } = await load("modules/attention_64_4");
        const instance = (await load("modules/attention_64_4.scalar.wasm")).create();
        await instance.weights.load("model.safetensors");
        tell({ name: description.name });
      } catch (error) {
        tell({ error: String(error) });
      }`,
  });
  cpSync(join(at, "node_modules/ladon/dist/modules"), join(at, "under/modules"), { recursive: true });
  writeFileSync(join(at, "under/model.safetensors"), file);
  rmSync(join(at, "model.safetensors"));
  await serving(at, async (url) => assert.deepEqual(await titleOf(`${url}/index.html`), { name: "attention_64_4" }));
});

test("a page that runs attention on given weights loads only index.js, core.js and one module", inChromium, async () => {
  const at = project("least", {
    "index.html": pageOf(`<script type="module" src="main.mjs"></script>`),
    "main.mjs": `import { load } from "./node_modules/ladon/dist/index.js";
      const kernel = await load({ kind: "attention", tokens: 3, model: 64, heads: 4 });
      const instance = kernel.create({ mask: ["causal", "padding"] });
      const of = (count) => new Float32Array(count).fill(0.1);
      instance.weights.set({ in_proj_weight: of(192 * 64), in_proj_bias: of(192),
        "out_proj.weight": of(64 * 64), "out_proj.bias": of(64) });
      const y = instance.run(of(3 * 64), { tokens: 3, padding: [1, 1, 0], attention: true });
      document.title = JSON.stringify({ y: y.length, seen: instance.attention()[0] });`,
  });
  await serving(at, async (url, asked) => {
    const { y, seen } = await titleOf(`${url}/index.html`);
    assert.deepEqual([y, seen], [3 * 64, 1]);
    const dist = "/node_modules/ladon/dist";
    assert.deepEqual(asked, [
      "/index.html",
      "/main.mjs",
      `${dist}/index.js`,
      `${dist}/core.js`,
      `${dist}/modules/attention_64_4.relaxed.wasm`,
    ]);
  });
});

test("a Web Worker", inChromium, async () => {
  const at = project("web-worker", {
    "index.html": pageOf(`<script type="module" src="main.mjs"></script>`),
    "main.mjs": `const worker = new Worker("./worker.mjs", { type: "module" });
      worker.onmessage = ({ data }) => (document.title = data);
      worker.onerror = ({ message }) => (document.title = JSON.stringify({ error: message }));`,
    "worker.mjs": `const document = { set title(text) { postMessage(text); } };\n${main("./attend.mjs")}`,
  });
  withoutNames(at);
  await serving(at, async (url) => agrees(await titleOf(`${url}/index.html`)));
});

test("Vite", inChromium, async () => {
  const at = project("vite", {
    "index.html": pageOf(`<script type="module" src="/main.mjs"></script>`),
    "main.mjs": main("./attend.mjs"),
  });
  mkdirSync(join(at, "public"));
  writeFileSync(join(at, "public", "model.safetensors"), file);
  const said = [];
  const customLogger = Object.fromEntries(
    ["info", "warn", "warnOnce", "error", "clearScreen"].map((name) => [
      name,
      (text) => name === "info" || said.push(`${text}`),
    ]),
  );
  const { build } = await import("vite");
  await build({
    root: at,
    logLevel: "warn",
    customLogger: { ...customLogger, hasWarned: false, hasErrorLogged: () => false },
    configFile: false,
  });
  assert.deepEqual(said, [], "Vite warns of nothing");
  const assets = readdirSync(join(at, "dist", "assets"));
  assert.ok(assets.filter((name) => name.endsWith(".wasm")).length >= 8, `${assets}`);
  rmSync(join(at, "node_modules"), { recursive: true });
  await serving(join(at, "dist"), async (url) => agrees(await titleOf(`${url}/index.html`)));
});

// A build copies the modules that the imported entries can load, and no others.
for (const [what, text, wanted] of [
  ["one attention kernel", `import { loadKernel } from "ladon/attention-64-4"; loadKernel();`, ["attention_64_4.*"]],
  ["an attention kernel with int8", `import { loadKernel } from "ladon/attention-384-12"; loadKernel();`, ["attention_384_12.*", "attention_384_12_int8.*"]],
  ["a kernel of its own", `import { load } from "ladon/core"; load("/own.simd.wasm");`, []],
  ["a model", `import { DateReader } from "ladon/date-reader"; DateReader.load();`, ["date_reader.*"]],
  ["names known at run time", `import { load } from "ladon"; load(location.hash.slice(1));`, shippedAttentions.map((name) => `${name}.*`)],
]) {
  test(`Vite: ${what}: only its modules are copied`, async () => {
    const at = project(`vite-modules-${what.replaceAll(" ", "-")}`, {
      "index.html": pageOf(`<script type="module" src="/main.mjs"></script>`),
      "main.mjs": text,
    });
    const { build } = await import("vite");
    await build({ root: at, logLevel: "silent", configFile: false });
    const copied = readdirSync(join(at, "dist", "assets")).filter((name) => name.endsWith(".wasm"));
    const names = copied.map((name) => name.replace(/-[\w-]{8}[.]wasm$/, ""));
    const variants = wanted.flatMap((name) => ["relaxed", "scalar", "simd"].map((variant) => name.replace("*", variant)));
    assert.deepEqual(names.sort(), variants.sort());
  });
}

// By default, Vite 6 builds for browsers of 2020. These browsers do not support await outside a function, so Vite
// rejects it. README.md names a newer `target`, which this test takes from README.md.
test("Vite, with await outside a function as in README.md", async () => {
  const option = /`build: \{ target: "(\w+)" \}`/.exec(readFileSync(here("../README.md"), "utf8"));
  const at = project("vite_await", {
    "index.html": pageOf(`<script type="module" src="/main.mjs"></script>`),
    "main.mjs": `import { load } from "ladon";\ndocument.title = (await load("attention_64_4")).description.name;`,
  });
  const { build } = await import("vite");
  const settings = { root: at, logLevel: "silent", configFile: false };
  await assert.rejects(build(settings), /Top-level await is not available/);
  await build({ ...settings, build: { target: option[1] } });
});

const bundled = () => ({
  "main.mjs": main("./attend.mjs"),
  "index.html": pageOf(`<script type="module" src="dist/main.js"></script>`),
});
/**
 * Serves a project without its node_modules, because the bundle's folder must contain all files that the page needs.
 */
const servingBundle = async (at, act) => {
  rmSync(join(at, "node_modules"), { recursive: true });
  await serving(at, async (url) => act(await titleOf(`${url}/index.html`)));
};

/** Runs webpack, which must print nothing. */
const webpack = async (at, options) => {
  const { default: make } = await import("webpack");
  const output = { path: join(at, "dist"), filename: "main.js", ...options.output };
  const compiler = make({ mode: "production", context: at, entry: "./main.mjs", ...options, output });
  const stats = await new Promise((resolve, reject) =>
    compiler.run((error, stats) => (error ? reject(error) : resolve(stats))),
  );
  await new Promise((resolve) => compiler.close(resolve));
  assert.equal(stats.toString({ all: false, errors: true, warnings: true }), "", "webpack warns of nothing");
};

test("webpack", inChromium, async () => {
  const at = project("webpack", bundled());
  await webpack(at, { target: "web" });
  assert.ok(readdirSync(join(at, "dist")).filter((name) => name.endsWith(".wasm")).length >= 8);
  await servingBundle(at, agrees);
});

// The bundle must be an ES module: in a CommonJS bundle, webpack cannot find the folder of the bundle, where the .wasm
// files are.
test("webpack for Node", async () => {
  const at = project("webpack-node", {
    "main.mjs": `import { attend } from "./attend.mjs";
      attend("model.safetensors").then((answer) => console.log(JSON.stringify(answer)));`,
  });
  const output = { filename: "main.mjs", module: true, publicPath: "auto" };
  await webpack(at, { target: "node", experiments: { outputModule: true }, output });
  rmSync(join(at, "node_modules"), { recursive: true });
  agrees(JSON.parse(node(["dist/main.mjs"], at)));
});

/** Runs esbuild, which must print nothing. */
const esbuild = async (at, options) => {
  const { build } = await import("esbuild");
  const { warnings } = await build({
    absWorkingDir: at,
    entryPoints: ["main.mjs"],
    bundle: true,
    outdir: "dist",
    logLevel: "silent",
    ...options,
  });
  assert.deepEqual(warnings, [], "esbuild warns of nothing");
};

test("esbuild, with the modules copied beside the bundle", inChromium, async () => {
  const at = project("esbuild", bundled());
  await esbuild(at, { format: "esm" });
  // Before the .wasm files are copied beside the bundle, `load` must throw an error that names the missing file.
  await serving(at, async (url) => {
    const { error } = await titleOf(`${url}/index.html`);
    assert.match(error, /LadonError: .*attention_64_4.*HTTP status 200.*404.*bundler copy ladon.dist.modules/);
  });
  for (const copied of ["modules", "team-worker.js"]) {
    cpSync(join(at, "node_modules/ladon/dist", copied), join(at, "dist", copied), { recursive: true });
  }
  await servingBundle(at, agrees);
});

test("esbuild for Node, with the modules copied beside the bundle", async () => {
  const at = project("esbuild-node", {
    "main.mjs": `import { attend } from "./attend.mjs";
      console.log(JSON.stringify(await attend("model.safetensors")));`,
  });
  await esbuild(at, { format: "esm", platform: "node", outExtension: { ".js": ".mjs" } });
  for (const copied of ["modules", "team-worker.js"]) {
    cpSync(join(at, "node_modules/ladon/dist", copied), join(at, "dist", copied), { recursive: true });
  }
  rmSync(join(at, "node_modules"), { recursive: true });
  agrees(JSON.parse(node(["dist/main.mjs"], at)));
});

test("esbuild, with one module inside the bundle, in any format", inChromium, async () => {
  for (const format of ["esm", "iife"]) {
    const at = project(`esbuild-${format}`, {
      "index.html": pageOf(`<script ${format === "esm" ? 'type="module"' : "defer"} src="dist/main.js"></script>`),
      "main.mjs": `import { load } from "ladon";
        import bytes from "ladon/modules/attention_64_4.simd.wasm";
        load(bytes).then((kernel) => {
          const instance = kernel.create({ mask: "causal" });
          const filled = (count, scale) => Float32Array.from({ length: count }, (_, i) => scale * Math.sin(i));
          instance.weights.set({ in_proj_weight: filled(192 * 64, 0.1), in_proj_bias: filled(192, 1),
            "out_proj.weight": filled(64 * 64, 0.1), "out_proj.bias": filled(64, 1) });
          document.title = JSON.stringify({ y: Array.from(instance.run(filled(3 * 64, 1), { tokens: 3 })) });
        });`,
    });
    const importMeta = format === "iife" ? { logOverride: { "empty-import-meta": "silent" } } : {};
    await esbuild(at, { format, loader: { ".wasm": "binary" }, ...importMeta });
    await servingBundle(at, ({ y }) => {
      assert.equal(y.length, wanted.y.length);
      y.forEach((value, i) => assert.ok(Math.abs(value - wanted.y[i]) < 1e-4, `${format}: y[${i}] is ${value}`));
    });
  }
});

// Tests of ladon/keywords, which loads three files by their addresses: the kernel, the front end, and the microphone
// worklet. Chromium has a fake microphone.
const microphoneFlags = [
  "--use-fake-device-for-media-stream",
  "--use-fake-ui-for-media-stream",
  "--autoplay-policy=no-user-gesture-required",
];
const spotting = {
  "main.mjs": `import { hear, spot } from "./spot.mjs";
    const tell = (answer) => (document.title = JSON.stringify(answer));
    const all = async () => ({ ...(await spot("./kwt1.safetensors")), heard: await hear() });
    all().then(tell, (error) => tell({ error: String(error), cause: String(error.cause) }));`,
  "kwt1.safetensors": keywordsFile,
};
/** Opens a page of a bundle whose microphone is a fake device. Asserts the logits, and returns the answer. */
const hearing = async (root) => {
  const answer = await serving(root, (url) => titleOf(`${url}/index.html`, microphoneFlags));
  assert.equal(answer.error, undefined, `${answer.error}: ${answer.cause}`);
  logitsAgree(answer);
  return answer;
};
const chunk = 512; // samples in an array of the microphone

test("keywords: a page without a bundler", inChromium, async () => {
  const at = project("keywords-page", {
    ...spotting,
    "index.html": pageOf(`<script type="module" src="main.mjs"></script>`),
  });
  const text = readFileSync(join(at, "spot.mjs"), "utf8");
  writeFileSync(join(at, "spot.mjs"), text.replace('"ladon/keywords"', '"./node_modules/ladon/dist/keywords.js"'));
  assert.equal((await hearing(at)).heard, chunk);
});

test("keywords: esbuild", inChromium, async () => {
  const at = project("keywords-esbuild", { ...spotting, "index.html": bundled()["index.html"] });
  await esbuild(at, { format: "esm" });
  const dist = join(at, "node_modules/ladon/dist");
  cpSync(join(dist, "modules"), join(at, "dist/modules"), { recursive: true });
  // Before microphone-worklet.js is copied beside the bundle, the error must name it.
  assert.match((await hearing(at)).heard, /LadonError: .*microphone-worklet[.]js/);
  // If the module of the front end is not beside the bundle, the error must name it.
  rmSync(join(at, "dist/modules/keywords_front_end.simd.wasm"));
  await serving(at, async (url) => {
    const { error } = await titleOf(`${url}/index.html`);
    assert.match(error, /LadonError: .*keywords_front_end.*404.*bundler copy ladon.dist.modules/);
  });
  cpSync(join(dist, "modules"), join(at, "dist/modules"), { recursive: true });
  cpSync(join(dist, "microphone-worklet.js"), join(at, "dist/microphone-worklet.js"));
  rmSync(join(at, "node_modules"), { recursive: true });
  assert.equal((await hearing(at)).heard, chunk);
});

test("keywords: webpack", inChromium, async () => {
  const at = project("keywords-webpack", { ...spotting, "index.html": bundled()["index.html"] });
  await webpack(at, { target: "web" });
  rmSync(join(at, "node_modules"), { recursive: true });
  assert.equal((await hearing(at)).heard, chunk);
});

// By default, Vite replaces the address of a small file, such as the worklet, by a data: URL with its content. The
// Content-Security-Policy of this page forbids code from data: URLs. With `assetsInlineLimit: 0`, Vite keeps the file.
// README.md must name this option.
test("keywords: Vite", inChromium, async () => {
  assert.match(readFileSync(here("../README.md"), "utf8"), /`build: \{ assetsInlineLimit: 0 \}`/);
  const at = project("keywords-vite", {
    "main.mjs": spotting["main.mjs"],
    "index.html": pageOf(`<script type="module" src="/main.mjs"></script>`),
  });
  mkdirSync(join(at, "public"));
  writeFileSync(join(at, "public", "kwt1.safetensors"), keywordsFile);
  const { build } = await import("vite");
  await build({ root: at, logLevel: "silent", configFile: false, build: { assetsInlineLimit: 0 } });
  rmSync(join(at, "node_modules"), { recursive: true });
  assert.equal((await hearing(join(at, "dist"))).heard, chunk);
});
