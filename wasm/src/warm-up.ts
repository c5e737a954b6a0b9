// Lets the engine optimise a kernel's code. A file of its own in the package, loaded when it is needed.
import { checkOptions, count } from "./check.js";
import type { Description } from "./description.js";
import { fail } from "./errors.js";
import type { Exports } from "./memory.js";
import type { WarmedUp, WarmUpOptions } from "./types.js";

const product = (extents: readonly number[]): number => extents.reduce((a, b) => a * b, 1);

/** A call of so many tokens: all that it reads is one block of zeros, x and the weights alike. */
const callOfZeros = (
  module: WebAssembly.Module,
  description: Description,
  tokens: number,
  attention: boolean,
): (() => void) => {
  const {
    queries,
    keys,
    model,
    keyModel,
    heads,
    context,
    cache,
    workspace,
    options,
    weights,
    layer = [],
  } = description;
  const layers = description.layers ?? 1;
  const exports = new WebAssembly.Instance(module).exports as unknown as Exports;
  const entries = [...layer, ...weights];
  const longest = Math.max(...entries.map(([, ...extents]) => product(extents)), queries * model, keys * keyModel);
  const [, width = 0, positions = 0] = /ROTARY \w+ (\d+) (\d+)/.exec(description.arguments)?.map(Number) ?? [];
  const pointers = entries.reduce((sum, [name]) => sum + +(/\[(\d+)/.exec(name)?.[1] ?? 1), 0) * layers;
  const map = attention ? heads * queries * keys : 0;

  let top = exports.__heap_base.value;
  const take = (words: number): number => {
    const at = Math.ceil(top / 64) * 64;
    top = at + 4 * words;
    return at;
  };
  const zeros = take(Math.max(longest, heads, width * positions));
  const y = take(queries * model);
  const memory = take(workspace / 4);
  const cached = take(cache / 4);
  const weightsAt = take(pointers);
  const optionsAt = take(options.length + layers);
  const maps = take(layers * map);
  const lacking = top - exports.memory.buffer.byteLength;
  try {
    if (lacking > 0) exports.memory.grow(Math.ceil(lacking / 65536));
  } catch (cause) {
    fail("memory", `memory: ${cause}`, undefined, undefined, cause);
  }

  const words = new Uint32Array(exports.memory.buffer);
  words.fill(zeros, weightsAt / 4, weightsAt / 4 + pointers);
  const set: Record<string, number> = { tokens, queries: tokens, keys: tokens, sinks: zeros, rotary: zeros };
  options.forEach((name, i) => (words[optionsAt / 4 + i] = set[name] ?? 0));
  const last = optionsAt / 4 + options.length - 1;
  for (let i = 0; attention && i < layers; ++i) words[last + i] = maps + 4 * i * map;

  const second = cache ? [cached] : context ? [zeros] : [];
  const call = exports.run ?? exports.extend ?? exports.attend!;
  return () => {
    exports.cache_clear?.(cached);
    exports.project_keys?.(zeros, cached, weightsAt, memory, optionsAt);
    call(zeros, ...second, weightsAt, y, memory, optionsAt);
  };
};

export const warmUp = async (
  module: WebAssembly.Module,
  description: Description,
  options: WarmUpOptions = {},
): Promise<WarmedUp> => {
  checkOptions(options, ["tokens", "most", "attention"]);
  const { tokens = Math.min(32, description.queries), most = 2000, attention = false } = options;
  count("tokens", tokens, description.queries, 1);
  if (!(most >= 0)) fail("option", "most", "milliseconds", most);
  const now = (): number => performance.now();
  const begin = now();
  const call = callOfZeros(module, description, tokens, attention);
  let [calls, first, best, since, at] = [0, 0, Infinity, begin, begin];
  // V8 compiles beside the calls and takes over between two of them: so long as the best call is far from its first, as
  // it is between optimised and other code, each gain may have another behind it.
  while (at - since < Math.max(150, 8 * best) && at - begin < most) {
    // Slices of calls: long enough for coarse clocks, short enough for a page to stay alive.
    let own = 0;
    const start = now();
    do {
      call();
      ++own;
      at = now();
      first ||= at - start;
    } while (at - start < 8);
    calls += own;
    const took = (at - start) / own;
    if (took < 0.9 * best) since = at;
    best = Math.min(best, took);
    await new Promise((resolve) => setTimeout(resolve));
  }
  return { calls, total: now() - begin, first, best };
};
