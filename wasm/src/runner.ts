// SPDX-License-Identifier: Apache-2.0
import { type ArrayInput, allocateInputs, writeInput } from "./array-inputs.js";
import { checkCount, checkLength, checkOptions } from "./check.js";
import type { Description } from "./description.js";
import { fail } from "./fail.js";
import { KernelCalls, type Words } from "./kernel-calls.js";
import type { MaskChoice } from "./mask-choice.js";
import type { ModuleMemory } from "./memory.js";
import { numberTypes } from "./option-types.js";
import type * as PositionTables from "./position-tables.js";
import type { RelativeOptions } from "./types.js";

/**
 * The value of LADON_NONE in the C header: all bits set. In the C options, LADON_NONE stands for the length 0, because
 * the value 0 stands for the default length.
 */
const none = -1;
const lengthWord = (length: number): number => length || none;

/** The options of a run as the caller gives them. */
type Given = Record<string, any>;

interface Lengths {
  readonly queries: number;
  readonly keys: number;
  readonly offset: number;
}

/** Returns the names of the options that a caller of `run` may give. */
const knownOptions = ({ options, context }: Description): string[] => [
  ...options.filter(({ of }) => !of).map(({ name }) => name),
  ...(context ? ["context"] : []),
];

/** Checks and executes the runs of one instance. The constructor allocates all memory except the attention maps. */
export class Runner {
  readonly #memory: ModuleMemory;
  readonly #description: Description;
  readonly #mask: MaskChoice;
  readonly #known: readonly string[];
  readonly #calls: KernelCalls;
  readonly #inputs: readonly ArrayInput[];
  readonly #tables: typeof PositionTables | undefined;
  readonly #rotary: PositionTables.RotaryTables | undefined;
  readonly #xAt: number;
  readonly #yAt: number;
  #mapsAt = 0;
  #hasMaps = false;

  /** `tables` is necessary for kernels with a rotary embedding or relative positions. */
  constructor(memory: ModuleMemory, description: Description, mask: MaskChoice, tables?: typeof PositionTables) {
    const { queries, model, rotary, context } = description;
    this.#memory = memory;
    this.#description = description;
    this.#mask = mask;
    this.#known = knownOptions(description);
    this.#calls = new KernelCalls(memory, description);
    this.#xAt = memory.allocate(4 * queries * model).at;
    this.#yAt = memory.allocate(4 * queries * model).at;
    this.#inputs = allocateInputs(memory, description);
    this.#tables = tables;
    this.#rotary = rotary && new tables!.RotaryTables(memory, description);
    this.clear();
  }

  get cached(): number {
    return this.#calls.cached;
  }

  clear(): void {
    this.#calls.clear();
  }

  /** Runs the kernel. Returns a view of y, [queries][model]. An error leaves y as it was. */
  run(weightsAt: number, x: ArrayLike<number>, given: Given = {}): Float32Array {
    const { queries: mostQueries, model, context, cache } = this.#description;
    checkOptions(given, this.#known);
    this.#mask.check(given);
    const lengths = this.#lengths(given);
    const { queries, keys } = lengths;
    // The first `queries` rows of x are the queries. Without a context and a cache, the first `keys` rows are the keys.
    const rows = context || cache ? queries : Math.max(queries, keys);
    checkLength("x", x, rows * model, mostQueries * model);
    this.#memory.write(this.#xAt, x);

    // With a context, the kernel fills the cache. Without a context, the kernel uses the keys and values in the cache.
    const passesContext = context && Boolean(given.context || !this.cached);
    const words = this.#writeInputs(given, lengths, passesContext);
    if (given.attention) words.attention = this.#mapPointers();
    this.#calls.setOptions(words);
    const contextAt = passesContext ? (words.context as number) : 0;
    this.#calls.call({ x: this.#xAt, context: contextAt, weights: weightsAt, y: this.#yAt });
    this.#hasMaps = Boolean(given.attention);
    return this.#memory.floats(this.#yAt, queries * model);
  }

  attention(layer = 0): Float32Array {
    const { layers = 1 } = this.#description;
    if (!this.#hasMaps) fail("attention", "attention of the last run", true, false);
    const floats = this.#mapFloats();
    return this.#memory.floats(this.#mapsAt + 4 * checkCount("layer", layer, layers - 1) * floats, floats);
  }

  relativeTable(bias: ArrayLike<number>, options?: RelativeOptions): Float32Array {
    const { mask } = this.#description;
    if (!mask.includes("relative")) fail("mask", "mask of relativeTable", "relative", mask);
    return this.#tables!.relativeTable(this.#memory, this.#description, bias, options);
  }

  #lengths(given: Given): Lengths {
    const { queries: mostQueries, keys: mostKeys, context } = this.#description;
    const { tokens } = given;
    checkCount("tokens", tokens ?? 0, mostQueries);
    const queries = checkCount("queries", given.queries ?? tokens ?? mostQueries, mostQueries);
    const contextKeys = !given.context && this.cached ? this.cached : mostKeys;
    const defaultKeys = context ? contextKeys : (tokens ?? mostKeys);
    const keys = checkCount("keys", given.keys ?? defaultKeys, mostKeys);
    const offset = checkCount("offset", given.offset ?? this.#mask.defaultOffset(queries, keys), 1e9, -1e9);
    return { queries, keys, offset };
  }

  /**
   * Checks `given`, the options of a run, and copies the arrays among them into the module's memory. Returns the
   * members of the C struct of options, except `attention`. Each member is an address, a length or a number.
   */
  #writeInputs(given: Given, { queries, keys, offset }: Lengths, passesContext: boolean): Words {
    const words: Words = { tokens: lengthWord(queries), queries: lengthWord(queries), keys: lengthWord(keys), offset };
    for (const { name, required, shape } of this.#description.options) {
      if (required && shape && !given[name]) fail("option", name, `numbers of shape ${shape}`, given[name]);
    }
    for (const input of this.#inputs) {
      const { name, at, partOf } = input;
      if (given[name] == null && !(name === "context" && passesContext)) continue;
      const columns = lengthWord(writeInput(this.#memory, input, given[name], partOf(queries, keys)));
      const ofColumns = this.#description.options.find(({ of }) => of === name);
      if (ofColumns) words[ofColumns.name] = columns;
      words[name] = at;
    }
    for (const { name, type } of this.#description.options) {
      const toWord = numberTypes[type];
      if (toWord && words[name] === undefined && given[name] != null) words[name] = toWord(name, given[name]);
    }
    if (this.#rotary) {
      words.rotary_offset = this.#rotary.prepare(given.rotary);
      words.rotary = this.#rotary.at;
    }
    return words;
  }

  #mapFloats(): number {
    const { heads, queries, keys } = this.#description;
    return heads * queries * keys;
  }

  /** Returns a pointer for each layer's attention map. The first call allocates the maps. */
  #mapPointers(): number[] {
    const { layers = 1 } = this.#description;
    const bytes = 4 * this.#mapFloats();
    this.#mapsAt ||= this.#memory.allocate(layers * bytes).at;
    return Array.from({ length: layers }, (_, layer) => this.#mapsAt + layer * bytes);
  }
}
