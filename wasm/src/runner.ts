import type { Description } from "./description.js";
import { fail } from "./errors.js";
import type { Block, Live } from "./memory.js";
import type { Mask, RunOptions } from "./types.js";

/** An instance's calls of its kernel. */
export interface Runner {
  run(weightsAt: number, x: ArrayLike<number>, options?: RunOptions): Float32Array;
  attention(layer?: number): Float32Array;
  clear(): void;
  cached(): number;
}

type Shape = [rows: number, columns: number];

// A length of 0 stands for what is usual in C, and this for 0.
const none = -1;

const check = (status = 0): void => {
  if (status) fail("status", "ladon_status", 0, status);
};

const count = (name: string, value: any, most: number): number =>
  Number.isInteger(value) && value >= 0 && value <= most
    ? value
    : fail("length", name, `an integer from 0 to ${most}`, value);

export const runnerOf = (description: Description, alive: () => Live, wanted?: Mask): Runner => {
  const { queries: mostQueries, keys: mostKeys, model, heads, keyModel, context, mask, options: members } = description;
  const layers = description.layers ?? 1;
  const mapFloats = heads * mostQueries * mostKeys;

  // A causal mask whose offset is given at run time is none where it shows all keys; one without is part of the code, as
  // a window and ALiBi are.
  const chosen = wanted && ([wanted].flat() as string[]);
  const free = members.includes("offset") && !/window|alibi/.test(`${mask}`);
  const fixed = mask.filter((one) => !free && /causal|window|alibi/.test(one));
  if (chosen && ![...chosen, ...fixed].every((one) => (one === "none" || mask.includes(one)) && (chosen.includes(one)))) {
    fail("mask", "mask", fixed[0] ? fixed : ["none", ...mask], wanted);
  }

  const take = (bytes: number): number => alive().take(bytes).at;
  const workspaceAt = take(description.workspace);
  const cacheAt = take(description.cache);
  const optionsAt = take(4 * (members.length + layers));
  const yAt = take(4 * mostQueries * model);
  // Nothing else tells the width and the positions of the rotary table.
  const [, width = 0, positions = 0] = /ROTARY \w+ (\d+) (\d+)/.exec(description.arguments)?.map(Number) ?? [];
  const rotaryAt = take(4 * width * positions);
  let rotaryIs = "";
  let maps: Block | undefined;
  let attended: unknown;

  /** What is copied in, each so often a head. */
  const shapes = (rows: number, queries: number, keys: number): Record<string, Shape> => ({
    x: [rows, model],
    context: [keys, keyModel],
    padding: [1, keys],
    bits: [queries, Math.ceil(mostKeys / 32)],
    boolean: [queries, keys],
    additive: [queries, keys],
    slopes: [1, heads],
    sinks: [1, heads],
  });
  const room = shapes(mostQueries, mostQueries, mostKeys);
  const known = (name: string): boolean => members.includes(name) || (context && name === "context");
  const blocksOf = (name: string): number => (mask.includes(`${name}_per_head`) ? heads : 1);
  const places: Record<string, number> = {};
  for (const name in room) {
    const [rows, columns] = room[name]!;
    if (name === "x" || known(name)) places[name] = take(4 * blocksOf(name) * rows * columns);
  }

  /** Copies the rows and columns that take part, or all that there is room for; tells the columns of a row there. */
  const copy = (name: string, source: any, [rows, columns]: Shape): number => {
    const [allRows, allColumns] = room[name]!;
    const blocks = blocksOf(name);
    const [part, all] = [blocks * rows * columns, blocks * allRows * allColumns];
    const length = source?.length;
    if (typeof source !== "object" || (length !== all && length !== part)) {
      fail("length", `length of ${name}`, part === all ? all : `${part} or ${all}`, length);
    }
    if (length === all) [rows, columns] = [allRows, allColumns];
    const isBytes = /padding|boolean/.test(name);
    const type = isBytes ? Uint8Array : name === "bits" ? Uint32Array : Float32Array;
    try {
      // Bytes say yes or no: 256 and true are a yes as well.
      const numbers = isBytes && !(source instanceof Uint8Array) ? Uint8Array.from(source, Boolean as any) : source;
      for (let i = 0; i < blocks; ++i) {
        const to = places[name]! + type.BYTES_PER_ELEMENT * i * allRows * columns;
        const first = i * rows * columns;
        new type(alive().exports.memory.buffer, to).set(
          blocks > 1 ? Array.prototype.slice.call(numbers, first, first + rows * columns) : numbers,
        );
      }
    } catch (cause) {
      fail("option", name, "numbers", typeof source[0], cause);
    }
    return columns;
  };

  const run = (weightsAt: number, x: ArrayLike<number>, options: RunOptions = {}): Float32Array => {
    const { exports, floats } = alive();
    const given = options as Record<string, any>;
    for (const name in given) {
      if (given[name] === undefined) continue;
      if (!known(name)) fail("option", "option", members, name);
      const needs = name === "offset" && free ? "causal" : name;
      if (/causal|padding/.test(needs) && chosen && !chosen.includes(needs)) {
        fail("mask", name, `an instance with mask ${needs}`, wanted);
      }
    }
    const tokens = count("tokens", given.tokens ?? mostQueries, mostQueries);
    const queries = count("queries", given.queries ?? tokens, mostQueries);
    const held = given.context ? 0 : exports.cache_length?.(cacheAt);
    const keys = count("keys", given.keys ?? (context ? held || mostKeys : tokens), mostKeys);
    const offset = given.offset ?? (free && !chosen?.includes("causal") ? keys : keys - queries);
    count("offset's distance", Math.abs(offset), 2 ** 30);

    const values: Record<string, number> = { tokens: tokens || none, queries: queries || none, keys: keys || none, offset };
    const shape = shapes(exports.run && !context ? Math.max(queries, keys) : queries, queries, keys);
    const inputs: Record<string, unknown> = { ...given, x };
    if (context && !held) inputs.context ??= 0;
    for (const name in shape) {
      if (inputs[name] == null) continue;
      values[`${name}_keys`] = copy(name, inputs[name], shape[name]!) || none;
      values[name] = places[name]!;
    }
    if (width) {
      const { base = 1e4, scaling = 1, offset: before = 0 } = given.rotary ?? {};
      values.rotary_offset = count("rotary.offset", before, positions);
      if (rotaryIs !== `${base} ${scaling}`) check(exports.rotary_fill!(rotaryAt, base, scaling));
      rotaryIs = `${base} ${scaling}`;
      values.rotary = rotaryAt;
    }
    if (given.attention) maps ??= alive().take(4 * layers * mapFloats);

    const words = new Uint32Array(exports.memory.buffer, optionsAt, members.length + layers).fill(0);
    members.forEach((name, i) => (words[i] = values[name] ?? 0));
    for (let i = 0; given.attention && i < layers; ++i) words[members.length - 1 + i] = maps!.at + 4 * i * mapFloats;

    const rest = [weightsAt, yAt, workspaceAt, optionsAt];
    if (description.cache && values.context) {
      check(exports.project_keys!(values.context, cacheAt, weightsAt, workspaceAt, optionsAt));
    }
    const second = description.cache ? [cacheAt] : context ? [values.context!] : [];
    check((exports.run ?? exports.extend ?? exports.attend!)(places.x!, ...second, ...rest));
    attended = given.attention;
    return floats(yAt, queries * model);
  };

  return {
    run,
    attention(layer = 0) {
      const { floats } = alive();
      if (!attended) fail("attention", "the last run had no attention: true");
      return floats(maps!.at + 4 * count("layer", layer, layers - 1) * mapFloats, mapFloats);
    },
    clear: () => check(alive().exports.cache_clear?.(cacheAt)),
    cached: () => alive().exports.cache_length?.(cacheAt) ?? 0,
  };
};
