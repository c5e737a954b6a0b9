// Runs kernels of the npm package, and the loops of the ceiling, in a worker of a page. bench.mjs sends the messages,
// and measures the processor time of the worker's thread.
import {load} from "../../../wasm/dist/index.js";
import {loadKernel} from "../../../wasm/dist/minilm.js";
import {weightsOf} from "../../../wasm/tests/browsers/checks.mjs";
import {repeatsFor} from "../rounds.mjs";
import {warmUp} from "../warm_up.mjs";
import {makePeaks} from "../work.mjs";

const milliseconds = 20;  // of a slice
const layersOfMiniLm = 6;
const slices = [];  // functions

const instances = new Map();

/**
 * Loads a kernel, and sets its weights. The cases of MiniLM share an instance for each precision, so that a browser has at
 * most eight instances: in the ninth, JavaScriptCore checks the bounds of each access (findings/jsc_ninth_memory.sh).
 */
async function instanceOf(one, options) {
  const key = JSON.stringify([one.kernel, one.model, one.heads, options]);
  if (!instances.has(key)) {
    const kernel = await loadCase(one, options);
    const instance = kernel.create();
    instance.weights.set(weightsOf(kernel.description));
    instances.set(key, instance);
  }
  return instances.get(key);
}

const loadCase = ({kernel, model, heads, tokens}, options) =>
    kernel === "minilm" ? loadKernel(options) : load({kind: "attention", tokens, model, heads}, options);

/** Returns the flops of a call: {float32}, or {float32, int8} with int8 weights, where scores remain float32. */
function neededFlops({kernel, tokens, model, precision}) {
  const [layers, matrices] = kernel === "minilm" ? [layersOfMiniLm, 12] : [1, 4];
  const products = layers * 2 * matrices * tokens * model ** 2, pairs = layers * 4 * tokens ** 2 * model;
  return precision === "int8" ? {float32: pairs, int8: products} : {float32: products + pairs};
}

/** Adds a function to the slices, and returns its index. */
const sliceOf = run => slices.push(run) - 1;

/**
 * Loads every case in every SIMD variant that this engine supports. Returns {peaks, kernels}: for each variant and
 * precision, and for each kernel, the index of a slice and its flops.
 */
async function prepare(cases) {
  const {scalar, ...found} = await makePeaks(milliseconds, () => undefined);
  const peaks = Object.entries(found).flatMap(([variant, ofVariant]) => Object.values(ofVariant).map(
      ({precision, flops, run}) => ({variant, precision, flops, slice: sliceOf(run)})));
  const kernels = [];
  for (const one of cases) {
    for (const variant of Object.keys(found)) {
      const instance = await instanceOf(one, {variant, precision: one.precision});
      const x = Float32Array.from({length: one.tokens * one.model}, (_, i) => Math.sin(i));
      const run = () => void instance.run(x, {tokens: one.tokens});
      await warmUp(run);
      const repeats = await repeatsFor(run, milliseconds);
      const flops = Object.entries(neededFlops(one)).map(([precision, count]) => [precision, repeats * count]);
      const slice = sliceOf(() => {
        for (let i = 0; i < repeats; ++i) run();
      });
      kernels.push({name: one.name, variant, flops: Object.fromEntries(flops), slice});
    }
  }
  return {peaks, kernels};
}

self.onmessage = async ({data: {cases, slice}}) => {
  try {
    self.postMessage({value: cases ? await prepare(cases) : slices[slice]() ?? null});
  } catch (error) {
    self.postMessage({error: String(error.stack ?? error)});
  }
};
