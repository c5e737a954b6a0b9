import { checkLength, checkOptions, count } from "./check.js";
import type { Description } from "./description.js";
import { fail } from "./errors.js";
import type { Live } from "./memory.js";
import type { Inputs, OtherKernels, Values } from "./other-kernels.js";
import type { Mask, RunOptions } from "./types.js";

/** An instance's calls of its kernel. */
export interface Runner {
  run(weightsAt: number, x: ArrayLike<number>, options?: RunOptions): Float32Array;
  attention(layer?: number): Float32Array;
  readonly inputs: Inputs | undefined;
}

// A length of 0 stands for what is usual in C, and this for 0.
export const none = -1;

export const runnerOf = (description: Description, alive: () => Live, wanted?: Mask, others?: OtherKernels): Runner => {
  const { queries: mostQueries, keys: mostKeys, model, heads, mask, options: members, layers = 1 } = description;
  const mapFloats = heads * mostQueries * mostKeys;

  // A causal mask whose offset is given at run time is none where it shows all keys, and padding none without bytes.
  // All others are part of the code.
  const chosen: string[] | undefined = wanted === undefined ? wanted : [wanted].flat();
  const inputs = others?.inputsOf(description, alive);
  const free = inputs?.freeOffset ?? members.includes("offset");
  const fixed = free ? [] : mask.filter((one) => one !== "padding");
  const possible = chosen?.[1] ? mask : ["none", ...mask];
  if (chosen && !(chosen.every((one) => possible.includes(one)) && fixed.every((one) => chosen.includes(one)))) {
    fail("mask", "mask", fixed[0] ? fixed : possible, wanted);
  }

  const take = (bytes: number): number => alive().take(bytes).at;
  const xBytes = 4 * mostQueries * model;
  const optionsBytes = 4 * (members.length + layers);
  const pieces = [description.workspace, optionsBytes, mostKeys, xBytes, xBytes];
  const [workspaceAt, optionsAt, paddingAt, xAt, yAt] = pieces.map(take) as [number, number, number, number, number];
  const known = inputs?.known ?? members;
  let mapsAt = 0;
  let attended: unknown;

  return {
    inputs,
    run(weightsAt, x, given: Record<string, any> = {}) {
      const { exports, floats, put } = alive();
      checkOptions(given, known);
      const needs = (name: string, one: string): void => {
        if (given[name] !== undefined && chosen && !chosen.includes(one)) fail("mask", `mask for ${name}`, one, wanted);
      };
      needs("padding", "padding");
      if (free) needs("offset", "causal");
      const { tokens, padding } = given;
      count("tokens", tokens ?? 0, mostQueries);
      const queries = count("queries", given.queries ?? tokens ?? mostQueries, mostQueries);
      const keys = count("keys", given.keys ?? inputs?.usualKeys(given) ?? tokens ?? mostKeys, mostKeys);
      const offset = given.offset ?? (free && !chosen?.includes("causal") ? keys : keys - queries);
      count("offset", offset, 1e9, -1e9);
      const rows = inputs?.ownRows ? queries : Math.max(queries, keys);
      checkLength("x", x, rows * model, mostQueries * model);
      put(xAt, x);
      const values: Values = {
        tokens: queries || none,
        queries: queries || none,
        keys: keys || none,
        offset,
      };
      if (padding != null) {
        checkLength("padding", padding, keys, mostKeys);
        // 256 and true are a yes as well.
        put((values.padding = paddingAt), Uint8Array.from(padding, Boolean as any), Uint8Array);
      }
      inputs?.put(given, queries, keys, values);
      if (given.attention) mapsAt ||= take(4 * layers * mapFloats);
      // A pointer a layer. What is undefined becomes 0.
      values.attention = Array.from({ length: layers }, (_, i) => given.attention && mapsAt + 4 * i * mapFloats);
      put(
        optionsAt,
        members.flatMap((name) => values[name]),
        Int32Array,
      );
      const status = (inputs?.call ?? exports.run!)(xAt, weightsAt, yAt, workspaceAt, optionsAt);
      if (status) fail("status", "ladon_status", 0, status);
      attended = given.attention;
      return floats(yAt, queries * model);
    },
    attention(layer = 0) {
      const { floats } = alive();
      if (!attended) fail("attention", "attention of the last run", true, attended);
      return floats(mapsAt + 4 * count("layer", layer, layers - 1) * mapFloats, mapFloats);
    },
  };
};
