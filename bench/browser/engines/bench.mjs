// bench.mjs [--turns N] [BROWSER...]: measures kernels of the npm package in chromium, firefox and webkit (WebKitGTK).
// Prints a table: GFLOP/s, the share of the browser's own ceiling, and the ratio of this share to that of V8. A turn
// measures every kernel once in every browser, between two measurements of the ceiling. All times are processor times
// of the thread that computes, so other programs of the machine disturb less than in times of a clock. Linux only.
// `./dev bench browser --engines` runs this program.
import {parseArgs} from "node:util";
import {fileURLToPath} from "node:url";

import {serve} from "../../../wasm/tools/serve.mjs";
import {spread} from "../rounds.mjs";
import {threadClock} from "./thread.mjs";

const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {engines: {type: "boolean"}, turns: {type: "string", default: "9"}},
});
const workers = {chromium: /^DedicatedWorker/, firefox: /^DOM Worker/, webkit: /^WebCore: Worker/};  // thread names
const chosen = positionals.length ? positionals : Object.keys(workers);
for (const name of chosen) {
  if (name in workers) continue;
  console.error(`bench: there is no browser ${name}; there are ${Object.keys(workers).join(" ")}`);
  process.exit(2);
}
const names = ["chromium", ...chosen.filter(name => name !== "chromium")];  // ratios need V8

const attention = (tokens, model, heads) =>
    ({kernel: "attention", name: `${tokens}, ${model}, ${heads}`, tokens, model, heads});
const miniLm = tokens => ({kernel: "minilm", name: `MiniLM, ${tokens} tokens`, tokens, model: 384});
const inInt8 = [attention(128, 384, 12), miniLm(16), miniLm(128)];
const inFloat32 = [attention(16, 64, 4), attention(64, 128, 4), attention(512, 256, 8), ...inInt8];
const cases = [
  ...inFloat32.map(one => ({...one, precision: "float32"})),
  ...inInt8.map(one => ({...one, name: `${one.name}, int8`, precision: "int8"})),
];
const limit = 600_000;  // milliseconds
// In an isolated page, the clock has short steps.
const headers = {"cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp"};

/**
 * Starts a browser. Returns {name, version, peaks, kernels, secondsOf, stop}. secondsOf(slice) runs a slice of the
 * worker.
 */
async function open(name, url) {
  const {start} = await import(`../../../wasm/tests/browsers/${name}.mjs`);
  const driver = await start();
  await driver.open(`${url}wasm/tests/browsers/blank.html`);
  const ask = message => driver.run(`
    globalThis.measuring ??= new Worker("${url}bench/browser/engines/measure.mjs", {type: "module"});
    return await new Promise((resolve, reject) => {
      measuring.onmessage = ({data}) => data.error ? reject(new Error(data.error)) : resolve(data.value);
      measuring.onerror = ({message}) => reject(new Error(message || "the worker does not load"));
      measuring.postMessage(${JSON.stringify(message)});
    });`, limit);
  const agent = await driver.run(`return navigator.userAgent;`);
  const version = (/(?:Chrome|Firefox)\/\d+/.exec(agent) ?? /Version\/[\d.]+/.exec(agent))[0].replace("/", " ")
      .replace("Version", "WebKitGTK, as Safari");
  const {peaks, kernels} = await ask({cases});
  const clock = threadClock(workers[name]);
  const secondsOf = async slice => {
    const begin = clock();
    await ask({slice});
    return clock() - begin;
  };
  console.error(`bench: ${version} runs ${[...new Set(peaks.map(({variant}) => variant))].join(" and ")}`);
  return {name, version, peaks, kernels, secondsOf, stop: driver.stop};
}

const sum = numbers => numbers.reduce((a, b) => a + b, 0);

/** Measures a kernel of a browser. Returns {rate, share}: flops per second, and the share of the ceiling. */
async function measure({peaks, secondsOf}, {variant, flops, slice}) {
  const secondsAtPeak = async () => sum(await Object.entries(flops).reduce(async (earlier, [precision, count]) => {
    const before = await earlier;
    const peak = peaks.find(one => one.variant === variant && one.precision === precision);
    return [...before, count / peak.flops * await secondsOf(peak.slice)];
  }, []));
  const before = await secondsAtPeak();
  const seconds = await secondsOf(slice);
  return {rate: sum(Object.values(flops)) / seconds, share: (before + await secondsAtPeak()) / 2 / seconds};
}

/** Returns the Markdown table. A ratio to V8 is the median over the turns, of modules of the same variant. */
function table(browsers, results) {
  const lines = [
    `| tokens, model, heads | module | ${browsers.map(({version}) => version).join(" | ")} |`,
    `|---|---|${browsers.map(() => "--:|").join("")}`,
  ];
  for (const {name} of cases) {
    for (const variant of ["relaxed", "simd"]) {
      const v8 = results.get(`chromium ${name} ${variant}`);
      const cells = browsers.map(({name: browser}) => {
        const own = results.get(`${browser} ${name} ${variant}`);
        if (!own) return "-";
        const gflops = (1e-9 * spread(own.map(({rate}) => rate)).median).toFixed(1);
        const percent = Math.round(100 * spread(own.map(({share}) => share)).median);
        const ratio = spread(own.map(({share}, turn) => share / v8[turn].share)).median.toFixed(2);
        return `${gflops}, ${percent}%${own === v8 ? "" : `, ${ratio}`}`;
      });
      if (cells.some(cell => cell !== "-")) lines.push(`| ${name} | ${variant} | ${cells.join(" | ")} |`);
    }
  }
  return `${lines.join("\n")}\n`;
}

const {url, close, server} = await serve(fileURLToPath(new URL("../../..", import.meta.url)), {headers});
const browsers = [];
try {
  for (const name of names) browsers.push(await open(name, url));
  const results = new Map();  // the key is "browser case variant", the value has an entry for each turn
  for (let turn = 0; turn < Number(values.turns); ++turn) {
    for (const {name, variant} of browsers[0].kernels) {
      for (const browser of browsers) {
        const kernel = browser.kernels.find(one => one.name === name && one.variant === variant);
        if (!kernel) continue;
        const key = `${browser.name} ${name} ${variant}`;
        results.set(key, [...(results.get(key) ?? []), await measure(browser, kernel)]);
      }
    }
  }
  process.stdout.write(table(browsers, results));
} finally {
  for (const {stop} of browsers) await stop();
  close();
  server.closeAllConnections?.();
}
