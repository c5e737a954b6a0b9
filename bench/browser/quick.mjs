// quick.mjs [--rounds N] [--offset N] MODULE.wasm ...: the share of peak of modules of one shape, in Node, each round
// beside the peak of the module's own variant. Node 20 runs relaxed modules with --experimental-wasm-relaxed-simd.
import {readFileSync} from "node:fs";
import {basename} from "node:path";
import {parseArgs} from "node:util";

import {makePeak} from "./peak.mjs";
import {describe, inputsFor, instantiate, neededFlops, warmUp} from "./raw_kernel.mjs";
import {alternate, repeatsFor, spread} from "./rounds.mjs";

const {values: {rounds, offset, milliseconds}, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    rounds: {type: "string", default: "201"},
    milliseconds: {type: "string", default: "1"},
    offset: {type: "string"},  // of a mask whose offset is told at run time: the number of keys makes it a full one
  },
});
const files = positionals.flatMap(names => names.split(","));
if (files.length === 0) throw new Error("quick.mjs [--rounds N] [--offset N] MODULE.wasm ...");

const kernels = [], peaks = new Map();
let first;
for (const file of files) {
  const module = await WebAssembly.compile(readFileSync(file));
  const description = describe(module);
  const inputs = inputsFor(description);
  const kernel = await instantiate(module, inputs, offset === undefined ? {} : {offset: Number(offset)});
  const causal = description.mask.includes("causal") && !(offset >= description.keys);
  const {variant} = description;
  if (!peaks.has(variant)) peaks.set(variant, await makePeak(variant, {milliseconds: Number(milliseconds)}));
  await warmUp(kernel.run);
  first ??= kernel.y;
  const difference = kernel.y.reduce((most, y, i) => Math.max(most, Math.abs(y - first[i])), 0);
  if (!(difference < 1e-4)) console.log(`${file}: y differs from the first's by ${difference}`);
  kernels.push({file, variant, run: kernel.run, flops: neededFlops(description, causal),
                repeats: await repeatsFor(kernel.run, Number(milliseconds))});
}
const contestants = [...kernels, ...[...peaks.values()].map(peak => ({...peak, repeats: 1}))];
const times = await alternate(contestants, Number(rounds), {pause: () => new Promise(setImmediate)});
const peakTimes = new Map([...peaks.keys()].map((variant, i) => [variant, times[kernels.length + i]]));
console.log(`${"".padEnd(44)} of peak       quartiles  GFLOP/s     peak        us  to first`);
for (const [k, {file, variant, flops}] of kernels.entries()) {
  const peakFlops = peaks.get(variant).flops, peakTime = peakTimes.get(variant);
  const share = spread(times[k].map((t, round) => flops / t / (peakFlops / peakTime[round])));
  const percent = x => (100 * x).toFixed(1).padStart(5) + "%";
  console.log(basename(file).padEnd(44), ` ${percent(share.median)}  ${percent(share.lower)} ${percent(share.upper)} `,
              (flops / spread(times[k]).median * 1e-9).toFixed(1).padStart(8),
              (peakFlops / spread(peakTime).median * 1e-9).toFixed(1).padStart(8),
              (spread(times[k]).median * 1e6).toFixed(1).padStart(9),
              spread(times[0].map((t, round) => t / times[k][round])).median.toFixed(3).padStart(9));
}
