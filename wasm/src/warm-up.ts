// SPDX-License-Identifier: Apache-2.0
// Runs a kernel until the engine has optimised its code. Loaded on demand.
import type { Activations } from "./activations.js";
import { checkCount, checkNumber, checkOptions, product } from "./check.js";
import { type Description, type Option, slotsOf } from "./description.js";
import { fail } from "./fail.js";
import { KernelCalls, type Words } from "./kernel-calls.js";
import { ModuleMemory } from "./memory.js";
import type { WarmedUp, WarmUpOptions } from "./types.js";

const requiredOf = ({ options }: Description): Option[] => options.filter(({ required }) => required);

/** Allocates one block of zeros that serves as x, as context, as rotary table and as every tensor. */
const allocateZeros = (memory: ModuleMemory, description: Description): number => {
  const { queries, keys, model, keyModel, rotary } = description;
  const floats = Math.max(
    ...slotsOf(description).map(({ shape }) => product(shape)),
    queries * model,
    keys * keyModel,
    ...requiredOf(description).map(({ shape = [] }) => product(shape)),
    rotary ? rotary.positions * rotary.width : 0,
  );
  return memory.allocate(4 * floats).at;
};

/** Allocates an attention map for each layer, and returns their addresses. */
const allocateMaps = (memory: ModuleMemory, { layers = 1, heads, queries, keys }: Description): number[] => {
  const bytes = 4 * heads * queries * keys;
  const first = memory.allocate(layers * bytes).at;
  return Array.from({ length: layers }, (_, layer) => first + layer * bytes);
};

/** Returns a function that runs the kernel once on zeros. */
const callOnZeros = (
  module: WebAssembly.Module,
  description: Description,
  activations: Activations | undefined,
  tokens: number,
  attention: boolean,
): (() => void) => {
  const { queries, model, context } = description;
  const memory = new ModuleMemory(module, activations);
  const calls = new KernelCalls(memory, description);
  const zeros = allocateZeros(memory, description);
  const y = memory.allocate(4 * queries * model).at;
  const pointers = slotsOf(description).flatMap((slot) => Array.from({ length: slot.pointers }, () => zeros));
  const weights = memory.allocate(4 * pointers.length).at;
  memory.write(weights, pointers, Uint32Array);
  const words: Words = { tokens, queries: tokens, keys: tokens };
  for (const { name } of requiredOf(description)) words[name] = zeros;
  if (attention) words.attention = allocateMaps(memory, description);
  calls.setOptions(words);
  return () => {
    calls.clear();
    calls.call({ x: zeros, context: context ? zeros : 0, weights, y });
  };
};

/**
 * Repeats calls until they get no faster. Calls are timed in slices of 8 ms, which is long enough for a coarse clock,
 * and the time of a call is the mean of its slice. A slice is a gain if its mean is more than 10% below the shortest
 * mean so far. Ends when the time since the last gain is at least 150 ms and at least 8 times the shortest mean. Always
 * ends after `most` milliseconds. Between two slices, other code of the page can run. V8 compiles in another thread,
 * and replaces the code between two calls.
 */
const repeat = async (call: () => void, begin: number, most: number): Promise<WarmedUp> => {
  const slice = 8;
  let [calls, first, best, lastGain, now] = [0, 0, Infinity, begin, begin];
  while (now - lastGain < Math.max(150, 8 * best) && now - begin < most) {
    let callsInSlice = 0;
    const start = performance.now();
    do {
      call();
      ++callsInSlice;
      now = performance.now();
      first ||= now - start;
    } while (now - start < slice);
    calls += callsInSlice;
    const mean = (now - start) / callsInSlice;
    if (mean < 0.9 * best) lastGain = now;
    best = Math.min(best, mean);
    await new Promise((resolve) => setTimeout(resolve));
  }
  return { calls, total: performance.now() - begin, first, best };
};

export const warmUp = async (
  module: WebAssembly.Module,
  description: Description,
  activations: Activations | undefined,
  options: WarmUpOptions = {},
): Promise<WarmedUp> => {
  checkOptions(options, ["tokens", "most", "attention"]);
  const { tokens = Math.min(32, description.queries), most = 2000, attention = false } = options;
  checkCount("tokens", tokens, description.queries, 1);
  if (!(checkNumber("most", most) >= 0)) fail("option", "most", "milliseconds", most);
  const begin = performance.now();
  return repeat(callOnZeros(module, description, activations, tokens, attention), begin, most);
};
