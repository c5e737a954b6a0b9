// SPDX-License-Identifier: Apache-2.0
// Runs a kernel until the engine has optimised its code. Loaded on demand.
import { checkCount, checkNumber, checkOptions, product } from "./check.js";
import { shortestTime } from "./clock.js";
import { type Description, type Option, slotsOf } from "./description.js";
import { fail } from "./fail.js";
import type { KernelParts } from "./instance.js";
import { KernelCalls, type Words } from "./kernel-calls.js";
import { ModuleMemory } from "./memory.js";
import type { Threads } from "./team.js";
import type { WarmedUp, WarmUpOptions } from "./types.js";

const requiredOf = ({ options }: Description): Option[] => options.filter(({ required }) => required);

/** Allocates one block of zeros that serves as every array, as rotary table and as every tensor. */
const allocateZeros = (memory: ModuleMemory, description: Description): number => {
  const { arrays, rotary } = description;
  const floats = Math.max(
    ...[...slotsOf(description), ...arrays, ...requiredOf(description)].map(({ shape = [] }) => product(shape)),
    rotary ? rotary.positions * rotary.width : 0,
  );
  return memory.allocate(4 * floats).at;
};

/** Allocates an attention map for each layer, and returns their addresses. */
const allocateMaps = (memory: ModuleMemory, { layers = 1 }: Description, { shape = [] }: Option): number[] => {
  const bytes = 4 * product(shape);
  const first = memory.allocate(layers * bytes).at;
  return Array.from({ length: layers }, (_, layer) => first + layer * bytes);
};

/** Returns a function that runs the kernel once on zeros. */
const callOnZeros = (
  { module, description, activations }: KernelParts,
  tokens: number,
  attention: boolean,
  threads?: Threads,
): (() => void) => {
  const { arrays, options } = description;
  const memory = new ModuleMemory(module, activations, threads?.memory());
  const calls = new KernelCalls(memory, description, threads?.workspaceBytes(description, 1));
  const zeros = allocateZeros(memory, description);
  const pointers = slotsOf(description).flatMap((slot) => Array.from({ length: slot.pointers }, () => zeros));
  const weights = memory.allocate(4 * pointers.length).at;
  memory.write(weights, pointers, Uint32Array);
  const words: Words = { tokens, queries: tokens, keys: tokens, weights };
  for (const { name, output, shape = [] } of arrays) words[name] = output ? memory.allocate(4 * product(shape)).at : zeros;
  for (const option of options) {
    if (option.required) words[option.name] = zeros;
    if (attention && option.output) words[option.name] = allocateMaps(memory, description, option);
  }
  const call = calls.prepare(words);
  return () => {
    calls.clear();
    if (threads && !threads.lack) calls.callPhases(call);
    else calls.call(call);
  };
};

/**
 * Repeats `call` for at least `least` milliseconds, and returns the number of calls and their time. Where the clock
 * stands still during the calls, ends after `most` calls with the time 0.
 */
const timeSlice = (call: () => void, least: number, most: number): { count: number; time: number; first: number } => {
  const start = performance.now();
  let [count, time, first] = [0, 0, 0];
  while (time < least && (time || count < most)) {
    call();
    time = performance.now() - start;
    if (!count++) first = time;
  }
  return { count, time, first };
};

/**
 * Repeats calls until they get no faster. Calls are timed in slices of 8 ms, or of 50 steps of the clock if they are
 * longer. The time of a call is the mean of its slice. A slice is a gain if its mean is more than 10% below the shortest
 * mean so far. Ends when the time since the last gain is at least 150 ms and at least 8 times the shortest mean. Always
 * ends after `most` milliseconds. Between two slices, other code of the page can run. V8 compiles in another thread,
 * and replaces the code between two calls. Where the clock stands still, a slice has twice as many calls as the slice
 * before, and about 500 calls end the warm-up.
 */
const repeat = async (call: () => void, begin: number, most: number): Promise<WarmedUp> => {
  const least = shortestTime(8);
  let [calls, first, best, lastGain, now, mostCalls] = [0, 0, Infinity, begin, begin, 8];
  while (now - lastGain < Math.max(150, 8 * best) && now - begin < most && mostCalls < 512) {
    const slice = timeSlice(call, least, mostCalls);
    if (!calls) first = slice.first;
    calls += slice.count;
    now = performance.now();
    const mean = slice.time / slice.count;
    if (!mean) mostCalls *= 2;
    else if (mean < 0.9 * best) lastGain = now;
    best = Math.min(best, mean || Infinity);
    await new Promise((resolve) => setTimeout(resolve));
    if (!mean) now = performance.now(); // some hosts move the clock only during pauses
  }
  return { calls, total: performance.now() - begin, first, best: Number.isFinite(best) ? best : 0 };
};

export const warmUp = async (
  parts: KernelParts,
  options: WarmUpOptions = {},
  threads?: Threads,
): Promise<WarmedUp> => {
  const { description } = parts;
  checkOptions(options, ["tokens", "most", "attention"]);
  const { tokens = Math.min(32, description.queries), most = 2000, attention = false } = options;
  checkCount("tokens", tokens, description.queries, 1);
  if (!(checkNumber("most", most) >= 0)) fail("option", "most", "milliseconds", most);
  const begin = performance.now();
  return repeat(callOnZeros(parts, tokens, attention, threads), begin, most);
};
