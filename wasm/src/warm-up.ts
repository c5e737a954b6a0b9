// Runs a kernel until the engine has optimised its code. Loaded on demand.
import { checkCount, checkOptions, product } from "./check.js";
import { type Description, slotsOf } from "./description.js";
import { fail } from "./fail.js";
import { ModuleMemory } from "./memory.js";
import type { WarmedUp, WarmUpOptions } from "./types.js";

/** Allocates one block of zeros that serves as x, as context, as rotary table and as every tensor. */
const allocateZeros = (memory: ModuleMemory, description: Description): number => {
  const { queries, keys, model, keyModel, heads, rotary } = description;
  const floats = Math.max(
    ...slotsOf(description).map(({ shape }) => product(shape)),
    queries * model,
    keys * keyModel,
    heads,
    rotary ? rotary.positions * rotary.width : 0,
  );
  return memory.allocate(4 * floats).at;
};

/** Writes the options of a call of `tokens` tokens. Returns the address of the C struct. */
const writeOptions = (
  memory: ModuleMemory,
  { options, layers = 1, heads, queries, keys }: Description,
  { tokens, zeros, attention }: { tokens: number; zeros: number; attention: boolean },
): number => {
  const mapBytes = 4 * heads * queries * keys;
  const mapsAt = attention ? memory.allocate(layers * mapBytes).at : 0;
  const words: Record<string, number> = { tokens, queries: tokens, keys: tokens, sinks: zeros, rotary: zeros };
  const members = options.flatMap(({ name, count = 1 }) =>
    Array.from({ length: count }, (_, i) => (name === "attention" && attention ? mapsAt + i * mapBytes : (words[name] ?? 0))),
  );
  const { at } = memory.allocate(4 * members.length);
  memory.write(at, members, Uint32Array);
  return at;
};

/** Returns a function that runs the kernel once on zeros. */
const callOnZeros = (
  module: WebAssembly.Module,
  description: Description,
  tokens: number,
  attention: boolean,
): (() => void) => {
  const { queries, model, context, cache, workspace } = description;
  const memory = new ModuleMemory(module);
  const zeros = allocateZeros(memory, description);
  const allocate = (bytes: number): number => memory.allocate(bytes).at;
  const y = allocate(4 * queries * model);
  const workspaceAt = allocate(workspace);
  const cacheAt = allocate(cache);
  const pointers = slotsOf(description).flatMap((slot) => Array.from({ length: slot.pointers }, () => zeros));
  const weightsAt = allocate(4 * pointers.length);
  memory.write(weightsAt, pointers, Uint32Array);
  const optionsAt = writeOptions(memory, description, { tokens, zeros, attention });

  const second = cache ? [cacheAt] : context ? [zeros] : [];
  const { run, extend, attend, cache_clear, project_keys } = memory.exports;
  const call = (run ?? extend ?? attend)!;
  return () => {
    cache_clear?.(cacheAt);
    project_keys?.(zeros, cacheAt, weightsAt, workspaceAt, optionsAt);
    call(zeros, ...second, weightsAt, y, workspaceAt, optionsAt);
  };
};

/**
 * Repeats calls until they get no faster, for at most `most` milliseconds. V8 compiles beside the calls and replaces the
 * code between two of them. While the best call is far faster than the first, another gain may follow, so the wait for
 * the next gain is a multiple of the best time. Calls run in slices: long enough for coarse clocks, and short enough for
 * the rest of the page.
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
  options: WarmUpOptions = {},
): Promise<WarmedUp> => {
  checkOptions(options, ["tokens", "most", "attention"]);
  const { tokens = Math.min(32, description.queries), most = 2000, attention = false } = options;
  checkCount("tokens", tokens, description.queries, 1);
  if (!(most >= 0)) fail("option", "most", "milliseconds", most);
  const begin = performance.now();
  return repeat(callOnZeros(module, description, tokens, attention), begin, most);
};
