import type { Description } from "./description.js";
import { fail } from "./errors.js";
import type { Block, Live } from "./memory.js";
import type { Inputs, More } from "./more.js";
import type { Mask, RunOptions } from "./types.js";

/** An instance's calls of its kernel. */
export interface Runner {
  run(weightsAt: number, x: ArrayLike<number>, options?: RunOptions): Float32Array;
  attention(layer?: number): Float32Array;
  readonly inputs: Inputs | undefined;
}

// A length of 0 stands for what is usual in C, and this for 0.
export const none = -1;

/** Throws what a function's status says. */
export const check = (status?: number): void => {
  if (status) fail("status", "ladon_status", 0, status);
};

export const count = (name: string, value: any, most: number): number =>
  Number.isInteger(value) && value >= 0 && value <= most
    ? value
    : fail("length", name, `an integer from 0 to ${most}`, value);

/** That an array has as many numbers as take part, or as there is room for. */
export const checkLength = (name: string, source: any, part: number, all: number): void => {
  const length = typeof source === "object" ? source?.length : typeof source;
  if (length !== part && length !== all) {
    fail("length", `length of ${name}`, part === all ? all : `${part} or ${all}`, length);
  }
};

export const runnerOf = (description: Description, alive: () => Live, wanted?: Mask, more?: More): Runner => {
  const { queries: mostQueries, keys: mostKeys, model, heads, mask, options: members } = description;
  const layers = description.layers ?? 1;
  const mapFloats = heads * mostQueries * mostKeys;

  // A causal mask whose offset is given at run time is none where it shows all keys, and padding none without bytes.
  // All others are part of the code.
  const chosen: string[] | undefined = wanted && [wanted].flat();
  const free = members.includes("offset") && !/window|alibi/.test(`${mask}`);
  const fixed = mask.filter((one) => !free && one !== "padding");
  const possible = ["none", ...mask];
  if (chosen && !(chosen.every((one) => possible.includes(one)) && fixed.every((one) => chosen.includes(one)))) {
    fail("mask", "mask", fixed[0] ? fixed : possible, wanted);
  }

  const take = (bytes: number): number => alive().take(bytes).at;
  const workspaceAt = take(description.workspace);
  const optionsAt = take(4 * (members.length + layers));
  const paddingAt = take(mostKeys);
  const xAt = take(4 * mostQueries * model);
  const yAt = take(4 * mostQueries * model);
  const inputs = more?.inputsOf(description, alive);
  let maps: Block | undefined;
  let attended: unknown;

  return {
    inputs,
    run(weightsAt, x, options = {}) {
      const { exports, floats } = alive();
      const given = options as Record<string, any>;
      for (const name in given) {
        if (given[name] === undefined) continue;
        if (!members.includes(name) && !inputs?.has(name)) fail("option", "option", members, name);
        const needs = name === "offset" && free ? "causal" : name;
        if (/causal|padding/.test(needs) && chosen && !chosen.includes(needs)) {
          fail("mask", `${name} needs an instance with mask`, needs, wanted);
        }
      }
      const { tokens, padding } = given;
      count("tokens", tokens ?? 0, mostQueries);
      const queries = count("queries", given.queries ?? tokens ?? mostQueries, mostQueries);
      const keys = count("keys", given.keys ?? inputs?.usualKeys(given) ?? tokens ?? mostKeys, mostKeys);
      const offset = given.offset ?? (free && !chosen?.includes("causal") ? keys : keys - queries);
      count("offset's distance", Math.abs(offset), 2 ** 30);
      const rows = inputs?.ownRows ? queries : Math.max(queries, keys);
      checkLength("x", x, rows * model, mostQueries * model);
      if (typeof (x[0] as unknown) === "bigint") fail("option", "x", "numbers", "bigint");
      floats(xAt, x.length).set(x);
      const values: Record<string, number> = {
        tokens: queries || none,
        queries: queries || none,
        keys: keys || none,
        offset,
      };
      if (padding) {
        checkLength("padding", padding, keys, mostKeys);
        // 256 and true are a yes as well.
        const bytes = padding instanceof Uint8Array ? padding : Uint8Array.from(padding, Boolean as any);
        new Uint8Array(exports.memory.buffer, (values.padding = paddingAt)).set(bytes);
      }
      const second = inputs?.put(given, queries, keys, values) ?? [];
      if (given.attention) maps ??= alive().take(4 * layers * mapFloats);

      const words = new Uint32Array(exports.memory.buffer, optionsAt, members.length + layers).fill(0);
      members.forEach((name, i) => (words[i] = values[name] ?? 0));
      for (let i = 0; given.attention && i < layers; ++i) words[members.length - 1 + i] = maps!.at + 4 * i * mapFloats;

      inputs?.before(weightsAt, workspaceAt, optionsAt);
      check((exports.run ?? exports.extend ?? exports.attend!)(xAt, ...second, weightsAt, yAt, workspaceAt, optionsAt));
      attended = given.attention;
      return floats(yAt, queries * model);
    },
    attention(layer = 0) {
      const { floats } = alive();
      if (!attended) fail("attention", "the last run had no attention: true");
      return floats(maps!.at + 4 * count("layer", layer, layers - 1) * mapFloats, mapFloats);
    },
  };
};
