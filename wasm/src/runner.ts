// SPDX-License-Identifier: Apache-2.0
import { type ArrayInput, allocateInputs, type Lengths, partOf, writeInput } from "./array-inputs.js";
import { checkCount, checkOptions, product } from "./check.js";
import type { Description, Option } from "./description.js";
import { fail } from "./fail.js";
import { type Call, KernelCalls, type Words } from "./kernel-calls.js";
import type { MaskChoice } from "./mask-choice.js";
import type { ModuleMemory } from "./memory.js";
import { numberTypes } from "./option-types.js";
import type * as PositionTables from "./position-tables.js";
import type { Team } from "./team.js";
import type { RelativeOptions } from "./types.js";

/**
 * The value of LADON_NONE in the C header: only the upper bit set. In the C options, LADON_NONE stands for the length 0, because
 * the value 0 stands for the default length.
 */
const none = 1 << 31;
const lengthWord = (length: number): number => length || none;

interface RunLengths extends Lengths {
  readonly offset: number;
}

/** The arrays and the options of a run as the caller gives them, by their names in the description. */
type Given = Record<string, any>;

/** The names that a caller of `run` may give as options, and as members of the option `memoryOptions`. */
interface Known {
  readonly own: readonly string[];
  readonly ofMemory: readonly string[];
}

const knownOptions = ({ options, arrays, memory }: Description): Known => {
  const names = options.filter(({ of }) => !of).map(({ name }) => name);
  const [, ...others] = arrays.filter(({ output }) => !output).map(({ name }) => name);
  return {
    own: [...names.filter((name) => !name.includes(".")), ...others, ...(memory ? ["memoryOptions"] : [])],
    ofMemory: names.filter((name) => name !== "memory.attention" && name.includes(".")).map((name) => name.slice("memory.".length)),
  };
};

const isNumberOrMissing = (value: unknown): boolean => value === undefined || typeof value === "number";

/** Returns whether `b` has the members of `a`, with the same values. */
const hasAll = (a: Given, b: Given): boolean => {
  for (const name in a) if (a[name] !== b[name]) return false;
  return true;
};

/** A run whose inputs are in the module's memory. */
interface Prepared {
  readonly call: Call;
  readonly lengths: RunLengths;
  /** Whether a context or a memory is projected. */
  readonly isProjected: boolean;
  readonly hasMaps: boolean;
}

/** Checks and executes the runs of one instance. The constructor allocates all memory except the attention maps. */
export class Runner {
  readonly #memory: ModuleMemory;
  readonly #description: Description;
  readonly #mask: MaskChoice;
  readonly #known: Known;
  /** The options that are numbers which a caller gives. */
  readonly #numbers: readonly Option[];
  /** The names and shapes of the arrays that every run needs, in addition to x or q. */
  readonly #required: readonly Option[];
  readonly #calls: KernelCalls;
  /** The first input is x, or q. */
  readonly #inputs: readonly ArrayInput[];
  readonly #output: Option;
  readonly #outputAt: number;
  readonly #tables: typeof PositionTables | undefined;
  readonly #rotary: PositionTables.RotaryTables | undefined;
  /** The number of tokens in the cache of a decoder's memory. */
  #memoryTokens = 0;
  /** The addresses of the attention maps, by the names of options. */
  readonly #maps = new Map<string, number>();
  #hasMaps = false;
  /** The last run and its options, if a run with equal options differs only in x. */
  #last: { readonly prepared: Prepared; readonly options: Given } | undefined;

  /** `tables` is necessary for kernels with a rotary embedding or relative positions. */
  constructor(
    memory: ModuleMemory,
    description: Description,
    mask: MaskChoice,
    tables: typeof PositionTables | undefined,
    workspaceBytes?: number,
  ) {
    const { rotary, arrays, options } = description;
    this.#memory = memory;
    this.#description = description;
    this.#mask = mask;
    this.#known = knownOptions(description);
    this.#numbers = options.filter(({ type }) => type in numberTypes);
    this.#required = options.filter(({ required, shape }) => required && shape);
    this.#calls = new KernelCalls(memory, description, workspaceBytes);
    this.#inputs = allocateInputs(memory, description);
    this.#output = arrays.find(({ output }) => output)!;
    this.#outputAt = memory.allocate(4 * product(this.#output.shape!)).at;
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

  /** Makes all caches empty, because new weights have other keys and values, and another address. */
  forget(): void {
    this.#last = undefined;
    this.clear();
    this.#memoryTokens = 0;
  }

  /** Runs the kernel. Returns a view of the output. An error leaves the output as it was. */
  run(weightsAt: number, x: ArrayLike<number>, options?: Given): Float32Array {
    const prepared = this.#prepare(weightsAt, x, options);
    this.#calls.call(prepared.call, this.#stored > 0);
    return this.#finish(prepared);
  }

  /** Like `run`, but the workers of a team compute the output. */
  async runTogether(team: Team, weightsAt: number, x: ArrayLike<number>, options?: Given): Promise<Float32Array> {
    const prepared = this.#prepare(weightsAt, x, options);
    const { queries, keys } = prepared.lengths;
    await this.#calls.callTogether(team, Math.max(queries, keys), prepared.call, this.#stored > 0);
    return this.#finish(prepared);
  }

  /** Checks the arguments of a run, and writes inputs and options into the module's memory. */
  #prepare(weightsAt: number, x: ArrayLike<number>, options: Given = {}): Prepared {
    checkOptions(options, this.#known.own);
    const last = this.#last;
    // Most runs have the options of the run before. This spares 1 to 5 us, the longer time before code is optimised.
    if (last && hasAll(options, last.options) && hasAll(last.options, options)) {
      this.#writeX(last.prepared.call.words, x, last.prepared.lengths);
      return last.prepared;
    }
    this.#last = undefined;
    const given = this.#named(options);
    this.#mask.check(given);
    const isProjected = this.#isProjected(given);
    const lengths = this.#lengths(given, isProjected);
    const words = this.#writeInputs(x, given, lengths, isProjected);
    const hasMaps = Boolean(given.attention);
    if (hasMaps) this.#addMaps(words);
    words.weights = weightsAt;
    words[this.#output.name] = this.#outputAt;
    const prepared = { call: this.#calls.prepare(words), lengths, isProjected, hasMaps };
    if (!this.#calls.sources.length && Object.values(options).every(isNumberOrMissing)) this.#last = { prepared, options: { ...options } };
    return prepared;
  }

  #finish({ lengths, isProjected, hasMaps }: Prepared): Float32Array {
    this.#hasMaps = hasMaps;
    if (isProjected && this.#description.memory) this.#memoryTokens = lengths.memory;
    return this.#result(lengths);
  }

  /** Returns a view of a map of the last run. `name` is the option that has the maps. */
  attention(layer = 0, name = "attention"): Float32Array {
    const { layers = 1, options } = this.#description;
    const { shape = [] } = options.find((one) => one.name === name) ?? fail("attention", "maps of a kernel", name, "none");
    if (!this.#hasMaps) fail("attention", "attention of the last run", true, false);
    const floats = product(shape);
    return this.#memory.floats(this.#maps.get(name)! + 4 * checkCount("layer", layer, layers - 1) * floats, floats);
  }

  relativeTable(bias: ArrayLike<number>, options?: RelativeOptions): Float32Array {
    const { mask } = this.#description;
    if (!mask.includes("relative")) fail("mask", "mask of relativeTable", "relative", mask);
    return this.#tables!.relativeTable(this.#memory, this.#description, bias, options);
  }

  /** The number of tokens in the cache that the kernel projects from a context or a memory. */
  get #stored(): number {
    return this.#description.memory ? this.#memoryTokens : this.cached;
  }

  /** Returns the options, with those of memoryOptions by their names in the description. */
  #named(options: Given): Given {
    const { memoryOptions } = options;
    if (memoryOptions === undefined) return options;
    checkOptions(memoryOptions, this.#known.ofMemory);
    const given: Given = {};
    for (const name in options) given[name] = options[name];
    for (const name in memoryOptions) given[`memory.${name}`] = memoryOptions[name];
    return given;
  }

  /** Returns whether a run projects a context or a memory. Otherwise, the kernel uses the keys and values in the cache. */
  #isProjected(given: Given): boolean {
    const { sources } = this.#calls;
    return sources.length > 0 && (sources.some((name) => given[name] != null) || !this.#stored);
  }

  #lengths(given: Given, isProjected: boolean): RunLengths {
    const { queries: mostQueries, keys: mostKeys, memory: mostMemory = 0, context } = this.#description;
    const { tokens } = given;
    checkCount("tokens", tokens ?? 0, mostQueries);
    const queries = checkCount("queries", given.queries ?? tokens ?? mostQueries, mostQueries);
    const stored = this.#calls.sources.length && !isProjected ? this.#stored : 0;
    const defaultKeys = context ? stored || mostKeys : (tokens ?? mostKeys);
    const keys = checkCount("keys", given.keys ?? defaultKeys, mostKeys);
    const offset = checkCount("offset", given.offset ?? this.#mask.defaultOffset(queries, keys), 1e9, -1e9);
    const memory = checkCount("memoryOptions.keys", given["memory.keys"] ?? (stored || mostMemory), stored || mostMemory);
    return { queries, keys, offset, memory };
  }

  /**
   * Checks `x` and `given`, and copies their arrays into the module's memory. Returns the members of the C struct of
   * options, except the maps of attention, and the arrays that functions take. Each is an address, a length or a number.
   */
  #writeInputs(x: ArrayLike<number>, given: Given, lengths: RunLengths, isProjected: boolean): Words {
    const { queries, keys, memory, offset } = lengths;
    const words: Words = { tokens: lengthWord(queries), queries: lengthWord(queries), keys: lengthWord(keys), offset };
    words["memory.keys"] = lengthWord(memory);
    for (const { name, shape } of this.#required) {
      if (!given[name]) fail("option", name, `numbers of shape ${shape}`, given[name]);
    }
    this.#writeX(words, x, lengths);
    for (const input of this.#inputs.slice(1)) {
      const { name, isParameter } = input;
      const isNeeded = isParameter && (isProjected || !this.#calls.sources.includes(name));
      if (given[name] != null || isNeeded) this.#writeInput(words, input, given[name], lengths);
    }
    for (const { name, type } of this.#numbers) {
      if (words[name] === undefined && given[name] != null) words[name] = numberTypes[type]!(name, given[name]);
    }
    if (this.#rotary) {
      words.rotary_offset = this.#rotary.prepare(given.rotary);
      words.rotary = this.#rotary.at;
    }
    return words;
  }

  /** The first `queries` rows of x are the queries. Without a context and a cache, the first `keys` rows are the keys. */
  #writeX(words: Words, x: ArrayLike<number>, lengths: Lengths): void {
    const { context, cache } = this.#description;
    const queries = context || cache ? lengths.queries : Math.max(lengths.queries, lengths.keys);
    this.#writeInput(words, this.#inputs[0]!, x, { ...lengths, queries });
  }

  #writeInput(words: Words, input: ArrayInput, source: unknown, lengths: Lengths): void {
    const columns = writeInput(this.#memory, input, source, partOf(input, lengths));
    if (input.columns) words[input.columns] = lengthWord(columns);
    words[input.name] = input.at;
  }

  /** Adds a pointer for each layer's attention map. The first call allocates the maps. */
  #addMaps(words: Words): void {
    const { layers = 1, options } = this.#description;
    for (const { name, shape = [] } of options.filter(({ output }) => output)) {
      const bytes = 4 * product(shape);
      const at = this.#maps.get(name) ?? this.#memory.allocate(layers * bytes).at;
      this.#maps.set(name, at);
      words[name] = Array.from({ length: layers }, (_, layer) => at + layer * bytes);
    }
  }

  /**
   * Returns a view of the output. The kernel writes the first queries of each head of [heads][queries][valueWidth], and
   * this function moves the heads together.
   */
  #result(lengths: Lengths): Float32Array {
    const { shape = [] } = this.#output;
    const part = partOf(this.#output, lengths);
    if (shape.length > 2) {
      const all = this.#memory.floats(this.#outputAt, product(shape));
      const [ofHead, used] = [product(shape.slice(-2)), product(part.slice(-2))];
      for (let head = 1; used < ofHead && head * ofHead < all.length; ++head) {
        all.copyWithin(head * used, head * ofHead, head * ofHead + used);
      }
    }
    return this.#memory.floats(this.#outputAt, product(part));
  }
}
