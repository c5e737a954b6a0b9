// quick.mjs [--rounds N] [--offset N] MODULE.wasm ...: measures in Node which share of the engine's peak each module
// reaches. The peak is measured between the calls of the modules. All modules must have the same shape, because the
// output also gives the speed of each module relative to the first module. --offset sets the offset of a causal mask.
import {readFileSync} from "node:fs";
import {basename} from "node:path";
import {parseArgs} from "node:util";

import "../../wasm/engine/relaxed_simd.mjs";
import {describe, inputsFor, instantiate, neededFlops} from "./raw_kernel.mjs";
import {alternate, figures, repeatsFor, timesAsFast} from "./rounds.mjs";
import {warmUp} from "./warm_up.mjs";
import {peaksOf, workOf} from "./work.mjs";

const {values: {rounds, offset, milliseconds}, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    rounds: {type: "string", default: "201"},
    milliseconds: {type: "string", default: "1"},
    offset: {type: "string"},  // the offset of a causal mask; with N = number of keys, every key is visible
  },
});
const files = positionals.flatMap(names => names.split(","));
if (files.length === 0) throw new Error("quick.mjs [--rounds N] [--offset N] MODULE.wasm ...");

const kernels = [], peaks = {};
let first;
for (const file of files) {
  const module = await WebAssembly.compile(readFileSync(file));
  const description = describe(module);
  const options = offset === undefined ? {} : {offset: Number(offset)};
  const kernel = await instantiate(module, inputsFor(description), options);
  const causal = description.mask.includes("causal") && !(offset >= description.keys);
  peaks[description.variant] ??= await peaksOf(description.variant, Number(milliseconds));
  await warmUp(kernel.run);
  first ??= kernel.y;
  const difference = kernel.y.reduce((most, y, i) => Math.max(most, Math.abs(y - first[i])), 0);
  const most = description.precision === "int8" ? 0.1 : 1e-4;
  if (!(difference < most)) console.log(`${file}: y differs from the first's by ${difference}`);
  kernels.push({file, run: kernel.run, repeats: await repeatsFor(kernel.run, Number(milliseconds)),
                work: workOf(neededFlops(description, causal), peaks[description.variant])});
}
const results = await alternate(kernels, Number(rounds));
const percent = x => (100 * x).toFixed(1).padStart(6) + "%";
const number = (x, digits, width) => x.toFixed(digits).padStart(width);
console.log(`${"".padEnd(40)} of peak       quartiles  GFLOP/s     peak        us  times the first`);
for (const [k, kernel] of kernels.entries()) {
  const {share_of_peak: share, gflops, peak_gflops, microseconds} = figures(kernel, results[k]);
  console.log(basename(kernel.file).padEnd(40), percent(share.median), percent(share.lower), percent(share.upper),
              number(gflops, 1, 8), number(peak_gflops, 1, 8), number(microseconds, 1, 9),
              number(timesAsFast(results[k], results[0]).median, 3, 16));
}
