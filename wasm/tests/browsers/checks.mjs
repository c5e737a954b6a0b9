// Runs the package in Node and in browsers, so that the results can be compared.
import { DateReader } from "../../dist/date-reader.js";
import { load } from "../../dist/index.js";
import { Microphone } from "../../dist/keywords.js";
import { loadKernel } from "../../dist/minilm.js";

const filled = (count, scale) => Float32Array.from({ length: count }, (_, i) => scale * Math.sin(i));
const product = (shape) => shape.reduce((a, b) => a * b, 1);

/** Returns numbers for every tensor of a kernel. Vectors of a norm's factors are 1. */
export function weightsOf({ weights, layer = [], layers }) {
  const prefixes = layers ? Array.from({ length: layers }, (_, i) => `layers.${i}.`) : [""];
  const all = [...prefixes.flatMap((prefix) => layer.map((one) => ({ ...one, name: prefix + one.name }))), ...weights];
  const floats = all.filter(({ name }) => !/_(scale|row_sum)$/.test(name));
  return Object.fromEntries(
    floats.map(({ name, shape }) => [
      name,
      /norm\d?_weight$/.test(name) ? filled(product(shape), 0).fill(1) : filled(product(shape), shape[1] ? 1.5 / Math.sqrt(shape[1]) : 0.1),
    ]),
  );
}

/** Returns y of three tokens. All int8 kernels quantise to 7 bits, so that all engines compute the same. */
async function outputOf(variant, loadThis, precision) {
  const kernel = await loadThis({ variant, precision, activationBits: precision === "int8" ? 7 : undefined });
  const instance = kernel.create();
  instance.weights.set(weightsOf(kernel.description));
  const y = Array.from(instance.run(filled(3 * kernel.description.model, 1), { tokens: 3 }));
  const { best, calls } = await kernel.warmUp({ tokens: 2, most: 100 });
  instance.free();
  return { y, isWarm: calls > 0 && Number.isFinite(best) };
}

const kernels = {
  attention: (options) => load({ kind: "attention", tokens: 3, model: 384, heads: 12 }, options),
  minilm: loadKernel,
};

/** Returns the outputs of several kernels, computed by the modules of one variant or by the default variant. */
export async function outputs(variant) {
  const found = {};
  for (const [name, loadThis] of Object.entries(kernels)) {
    for (const precision of ["float32", "int8"]) {
      found[`${name} ${precision}`] = await outputOf(variant, loadThis, precision);
    }
  }
  return found;
}

/** Computes three tokens by one thread and by two workers. */
export async function threads() {
  const [one, two] = [await loadKernel(), await loadKernel({ threads: 2 })];
  const weights = weightsOf(one.description);
  const x = filled(3 * one.description.model, 1);
  const [instance, team] = [one.create(), two.create()];
  for (const { weights: ofInstance } of [instance, team]) ofInstance.set(weights);
  const y = instance.run(x, { tokens: 3 });
  const ofTeam = await team.run(x, { tokens: 3 });
  const isEqual = y.every((value, i) => value === ofTeam[i]);
  instance.free();
  team.free();
  return { threads: two.threads, reason: two.singleThreadReason ?? null, isEqual };
}

/** Returns the variants that this engine supports. Other variants must give the error "unsupported". */
export async function supported() {
  const found = [];
  for (const variant of ["relaxed", "simd", "scalar"]) {
    await load("attention_64_4", { variant }).then(
      () => found.push(variant),
      (error) => {
        if (error.code !== "unsupported") throw error;
      },
    );
  }
  return found;
}

export async function readDate() {
  const reader = await DateReader.load();
  return reader.read("3rd of Feb, 2024").date;
}

/** Opens a microphone. Returns "opened", or the code of the error. It must not wait for ever. */
export async function openMicrophone() {
  try {
    const microphone = await Microphone.open({ samples: () => undefined, limit: 3000, permissionLimit: 3000 });
    await microphone.stop();
    return "opened";
  } catch (error) {
    return error.code;
  }
}

/** Returns the outputs of the default variants, computed in a worker. */
export const outputsOfWorker = () =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => (data.error ? reject(new Error(data.error)) : resolve(data));
    worker.onerror = ({ message }) => reject(new Error(message));
  });
