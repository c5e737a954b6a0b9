// What some kernels have beyond attention to x itself with causal and padding masks and PyTorch's packed projections:
// other masks and scores, a context, a cache; other layouts. A file of its own in the package, loaded where needed.
import { abi, type Description, type TensorEntry } from "./description.js";
import { fail } from "./errors.js";
import type { Live } from "./memory.js";
import { checkLength, checkOptions, count } from "./check.js";
import type { Variant } from "./variants.js";
import type { Naming, Slot } from "./weights.js";

/** Words of the C function's options by their names. */
export type Values = Record<string, any>;

/** Inputs beside x and padding, and the cache. */
export interface Inputs {
  /** Whether x has a row for each query only, for keys come from elsewhere. */
  readonly ownRows: boolean;
  /** Whether a run's offset makes the mask causal; else it is of a mask that is part of the code. */
  readonly freeOffset: boolean;
  /** Options of a run. */
  readonly known: readonly string[];
  /** Keys of a run that does not say how many; undefined: as many as tokens. */
  usualKeys(given: Record<string, any>): number | undefined;
  /** Copies what is given, and puts where it is into `values`. */
  put(given: Record<string, any>, queries: number, keys: number, values: Values): void;
  /** The C function, with what it takes behind x, and what is to be done before. */
  call(x: number, weights: number, y: number, workspace: number, options: number): number;
  cached(): number;
  clear(): void;
}

/** This file, as index.js sees it. */
export interface OtherKernels {
  /** Throws where a module lacks what one of any kind says, or is of another version or variant than is wanted. */
  check(description: Description, wanted?: Variant): void;
  inputsOf(description: Description, alive: () => Live): Inputs;
  namingOf(description: Description): Naming;
}

// Names of checkpoints as the C members have them: of transformers' BertModel and LlamaModel and PyTorch's
// TransformerEncoder, as src/weights has them for C++. One after the other: a later one may look for what one put in.
const spellings = (
  "encoder.layer.=layers. self_attn.=attention. attention.output.dense.=attention.out_proj_ " +
  "attention.output.LayerNorm.=norm1_ intermediate.dense.=linear1_ output.dense.=linear2_ output.LayerNorm.=norm2_ " +
  "self.query.=query_proj_ self.key.=key_proj_ self.value.=value_proj_ q_proj.=query_proj_ k_proj.=key_proj_ " +
  "v_proj.=value_proj_ q_proj_=query_proj_ k_proj_=key_proj_ v_proj_=value_proj_ o_proj.=out_proj_ " +
  "out_proj.=out_proj_ mlp.gate_proj.=gate_ mlp.up_proj.=linear1_ mlp.down_proj.=linear2_ input_layernorm.=norm1_ " +
  "post_attention_layernorm.=norm2_ linear1.=linear1_ linear2.=linear2_ norm1.=norm1_ norm2.=norm2_ norm.=norm_ " +
  "_gamma=_weight _beta=_bias"
) // of the first checkpoints of BERT, born in TensorFlow
  .split(" ")
  .map((pair) => pair.split("=") as [string, string]);

const respelled = (name: string): string => spellings.reduce((text, [from, to]) => text.replace(from, to), name);

/** All tensors of the kernel, as the C struct has them. */
const slotsOf = ({ layers, layer = [], weights }: Description): Slot[] => {
  const entries = Array.from({ length: layers ?? 1 }, (_, i) =>
    layer.map(([member, ...shape]): TensorEntry => [layers ? `layers.${i}.${member}` : member, ...shape]),
  ).flat();
  return [...entries, ...weights].map(([entry, ...extents]) => {
    const [member, heads] = entry.split("[") as [string, string?];
    return heads ? [member, [parseInt(heads), ...extents], parseInt(heads)] : [member, extents, 1];
  });
};

const sizes = "queries keys model heads headWidth keyModel valueModel workspace cache".split(" ");
const lists = "mask weights options".split(" ");

export const check = (description: Record<string, any>, wanted?: Variant): void => {
  const { ladon = abi, variant } = description;
  if (ladon !== abi) fail("version", "module's format", abi, ladon);
  const wrong = [
    ...sizes.filter((name) => !Number.isSafeInteger(description[name]) || description[name] < 0),
    ...lists.filter((name) => !Array.isArray(description[name])),
  ];
  if (wrong[0]) fail("not-a-module", "description of a module", wrong, "none such");
  if (wanted && variant !== wanted) fail("unsupported", "variant", wanted, variant);
};

export const namingOf = (description: Description): Naming => {
  const { kind, layout } = description;
  const slots = slotsOf(description);
  // Checkpoints hold (out, in): a kernel that reads (in, out) knows its own names only.
  if (/per_head|in_out/.test(layout)) return { layout, slots, spell: (name) => name };
  const projections = ["query_proj_", "key_proj_", "value_proj_"];
  return {
    layout,
    slots,
    spell(name, prefix) {
      // BERT's names say in what is before them whether they are an attention's.
      const before = kind === "attention" && !prefix ? "attention." : prefix;
      const [place, full] = [respelled(before), respelled(before + name)];
      return full.startsWith(place) ? full.slice(place.length) : name;
    },
    splitPacked(members) {
      // Queries', keys' and values' rows out of PyTorch's one tensor of all three.
      for (const [first] of slots.filter(([member]) => layout === "separate_qkv" && member.includes(projections[0]!))) {
        const joined = first.replace("query", "in");
        const [name, tensor] = members.get(joined) ?? [];
        if (!tensor) continue;
        const parts = projections.map((one) =>
          slots.find(([member]) => member === first.replace(projections[0]!, one))!,
        );
        const width = parts[0]![1][1] ?? 1;
        const rows = parts.reduce((sum, [, shape]) => sum + shape[0]!, 0);
        const [expected, actual] = tensor.shape
          ? [[rows, ...parts[0]![1].slice(1)], tensor.shape]
          : [rows * width, tensor.length];
        if (`${expected}` !== `${actual}`) continue;
        members.delete(joined);
        let { begin } = tensor;
        for (const [member, shape] of parts) {
          const length = shape[0]! * width;
          members.set(member, [name!, { ...tensor, begin, shape: tensor.shape && shape, length }]);
          begin += 4 * length;
        }
      }
    },
  };
};

/** What can still be wrong with a call, by the status of the C header. */
const said: Record<number, string> = {
  7: "a length or a position is beyond what the kernel has room for",
  11: "the cache has no room for these tokens",
  13: "rotary.base is below 1, or rotary.scaling not above 0, or neither is a number",
};

const checkStatus = (status = 0): void => {
  if (status) fail("status", said[status] ?? `ladon_status ${status}`, undefined, status);
};

export const inputsOf = (description: Description, alive: () => Live): Inputs => {
  const { queries: mostQueries, keys: mostKeys, heads, keyModel, valueModel, context, cache, mask } = description;
  if (context && cache && keyModel !== valueModel) fail("unsupported", "keys and values of two contexts", "one", "two");
  const members = [...description.options, ...(context ? ["context"] : [])];
  // What C takes apart from a mask or a rotary table, the binding knows by itself.
  const known = members.filter((name) => !/_(keys|offset)$/.test(name));
  const take = (bytes: number): number => alive().take(bytes).at;
  const cacheAt = take(cache);
  // Nothing else tells the width and the positions of the rotary table.
  const [, width = 0, positions = 0] = /ROTARY \w+ (\d+) (\d+)/.exec(description.arguments)?.map(Number) ?? [];
  const rotaryAt = take(4 * width * positions);
  let rotaryIs = "";
  let contextAt = 0;

  const shapes = (queries: number, keys: number): Record<string, [rows: number, columns: number]> => ({
    context: [keys, keyModel],
    bits: [queries, Math.ceil(mostKeys / 32)],
    boolean: [queries, keys],
    additive: [queries, keys],
    slopes: [1, heads],
    sinks: [1, heads],
  });
  const room = shapes(mostQueries, mostKeys);
  const blocksOf = (name: string): number => (mask.includes(`${name}_per_head`) ? heads : 1);
  const places: Record<string, number> = {};
  for (const name of members) {
    if (room[name]) places[name] = take(4 * blocksOf(name) * room[name][0] * room[name][1]);
  }
  const cached = (): number => alive().exports.cache_length?.(cacheAt) ?? 0;

  /** Copies the rows and columns that take part, or all that there is room for; tells the columns of a row there. */
  const putOne = (name: string, source: any, [rows, columns]: [number, number]): number => {
    const [allRows, allColumns] = room[name]!;
    const blocks = blocksOf(name);
    checkLength(name, source, blocks * rows * columns, blocks * allRows * allColumns);
    if (source.length === blocks * allRows * allColumns) [rows, columns] = [allRows, allColumns];
    const type = name === "boolean" ? Uint8Array : name === "bits" ? Uint32Array : Float32Array;
    const numbers = name === "boolean" ? Uint8Array.from(source, Boolean as any) : source;
    for (let i = 0; i < blocks; ++i) {
      const to = places[name]! + type.BYTES_PER_ELEMENT * i * allRows * columns;
      const first = i * rows * columns;
      const piece = blocks > 1 ? Array.prototype.slice.call(numbers, first, first + rows * columns) : numbers;
      alive().put(to, piece, type);
    }
    return columns;
  };
  const clear = (): void => checkStatus(alive().exports.cache_clear?.(cacheAt));
  clear();
  return {
    freeOffset: members.includes("offset") && !/window|alibi/.test(`${mask}`),
    ownRows: context || cache > 0,
    known,
    usualKeys: (given) => (context ? (!given.context && cached()) || mostKeys : undefined),
    put(given, queries, keys, values) {
      if (members.includes("sinks") && !given.sinks) fail("option", "sinks", `${heads} numbers`, given.sinks);
      const shape = shapes(queries, keys);
      // Needed, but where a cache has it.
      contextAt = context && (given.context || !cached()) ? places.context! : 0;
      for (const name in places) {
        if (given[name] == null && !(name === "context" && contextAt)) continue;
        values[`${name}_keys`] = putOne(name, given[name], shape[name]!) || -1; // LADON_NONE
        values[name] = places[name]!;
      }
      if (width) {
        checkOptions(given.rotary ?? {}, ["base", "scaling", "offset"]);
        const { base = 1e4, scaling = 1, offset = 0 } = given.rotary ?? {};
        values.rotary_offset = count("rotary.offset", offset, positions);
        const is = `${base} ${scaling}`;
        if (rotaryIs !== is) checkStatus(alive().exports.rotary_fill!(rotaryAt, base, scaling));
        rotaryIs = is;
        values.rotary = rotaryAt;
      }
    },
    call(x, weights, y, workspace, options) {
      const { run, extend, attend, project_keys } = alive().exports;
      if (cache && contextAt) checkStatus(project_keys!(contextAt, cacheAt, weights, workspace, options));
      const second = cache ? [cacheAt] : context ? [contextAt] : [];
      checkStatus((run ?? extend ?? attend!)(x, ...second, weights, y, workspace, options));
      return 0;
    },
    cached,
    clear,
  };
};
