import type { Description } from "./description.js";
import { fail } from "./errors.js";
import { check, floats, type Live } from "./live.js";
import { hidingOf } from "./mask.js";
import type { Block } from "./memory.js";
import type { Mask, RunOptions } from "./types.js";

/** An instance's calls of its kernel. */
export interface Runner {
  run(weightsAt: number, x: ArrayLike<number>, options?: RunOptions): Float32Array;
  attention(layer?: number): Float32Array;
  clear(): void;
  cached(): number;
}

// A length of 0 stands for what is usual in C, and this for 0.
const none = -1;

export const runnerOf = (description: Description, alive: () => Live, mask?: Mask): Runner => {
  const { queries: mostQueries, keys: mostKeys, model, heads, context, options: members } = description;
  const layers = description.layers ?? 1;
  const mapFloats = heads * mostQueries * mostKeys;
  const hiding = hidingOf(description, mask);
  const take = (bytes: number): number => alive().memory.take(bytes).at;
  const workspaceAt = take(description.workspace);
  const cacheAt = take(description.cache);
  const optionsAt = take(4 * (members.length + layers));
  const yAt = take(4 * mostQueries * model);
  // Nothing else tells the width and the positions of the rotary table.
  const [, width = 0, positions = 0] = /ROTARY \w+ (\d+) (\d+)/.exec(description.arguments)?.map(Number) ?? [];
  const rotaryAt = take(4 * width * positions);
  let rotaryIs = "";
  let maps: Block | undefined;
  let attended = false;

  const count = (name: string, value: any, most: number): number =>
    Number.isInteger(value) && value >= 0 && value <= most
      ? value
      : fail("length", name, `an integer from 0 to ${most}`, value);

  const run = (weightsAt: number, x: ArrayLike<number>, options: RunOptions = {}): Float32Array => {
    const live = alive();
    const { exports, memory, copy } = live;
    const given = options as Record<string, any>;
    for (const name in given) {
      if (given[name] === undefined) continue;
      if (hiding.refused.has(name)) fail("mask", name, "an instance created for it", mask);
      if (!members.includes(name) && !(context && name === "context")) fail("option", "option", members, name);
    }
    const tokens = count("tokens", given.tokens ?? mostQueries, mostQueries);
    const queries = count("queries", given.queries ?? tokens, mostQueries);
    const held = given.context ? 0 : exports.cache_length?.(cacheAt);
    const keys = count("keys", given.keys ?? (context ? held || mostKeys : tokens), mostKeys);
    const offset = given.offset ?? (hiding.all ? keys : keys - queries);
    if (!Number.isInteger(offset) || Math.abs(offset) > 2 ** 30) fail("option", "offset", "an integer", offset);

    const values: Record<string, number> = { tokens: tokens || none, queries: queries || none, keys: keys || none, offset };
    const put = (name: string, source: unknown, rows: number, columns: number): number => {
      const [at, stored] = copy(name, source, rows, columns);
      values[`${name}_keys`] = stored || none;
      return (values[name] = at);
    };
    const xAt = put("x", x, exports.run && !context ? Math.max(queries, keys) : queries, model);
    const contextAt = context && !held && put("context", given.context, keys, description.keyModel);
    for (const [name, rows, columns] of [
      ["padding", 1, keys],
      ["bits", queries, Math.ceil(mostKeys / 32)],
      ["boolean", queries, keys],
      ["additive", queries, keys],
      ["slopes", 1, heads],
      ["sinks", 1, heads],
    ] as const) {
      if (given[name] != null) put(name, given[name], rows, columns);
    }
    if (width) {
      const { base = 1e4, scaling = 1, offset: before = 0 } = given.rotary ?? {};
      values.rotary_offset = count("rotary.offset", before, positions);
      if (rotaryIs !== `${base} ${scaling}`) check(exports.rotary_fill!(rotaryAt, base, scaling));
      rotaryIs = `${base} ${scaling}`;
      values.rotary = rotaryAt;
    }
    if (given.attention) maps ??= memory.take(4 * layers * mapFloats);

    const words = new Uint32Array(exports.memory.buffer, optionsAt, members.length + layers).fill(0);
    members.forEach((name, i) => (words[i] = values[name] ?? 0));
    for (let i = 0; given.attention && i < layers; ++i) words[members.length - 1 + i] = maps!.at + 4 * i * mapFloats;

    const call = exports.run ?? exports.extend ?? exports.attend!;
    if (exports.project_keys && contextAt) check(exports.project_keys(contextAt, cacheAt, weightsAt, workspaceAt, optionsAt));
    const second = description.cache ? cacheAt : contextAt;
    check(
      second
        ? call(xAt, second, weightsAt, yAt, workspaceAt, optionsAt)
        : call(xAt, weightsAt, yAt, workspaceAt, optionsAt),
    );
    attended = given.attention;
    return floats(live, yAt, queries * model);
  };

  return {
    run,
    attention(layer = 0) {
      const live = alive();
      if (!attended) fail("attention", "the last run kept none: run with attention: true");
      return floats(live, maps!.at + 4 * count("layer", layer, layers - 1) * mapFloats, mapFloats);
    },
    clear: () => check(alive().exports.cache_clear?.(cacheAt)),
    cached: () => alive().exports.cache_length?.(cacheAt) ?? 0,
  };
};
