import { type ArrayInput, allocateInputs, writeInput } from "./array-inputs.js";
import { checkCount, checkLength, checkOptions } from "./check.js";
import type { Description } from "./description.js";
import { fail } from "./fail.js";
import type { MaskChoice } from "./mask-choice.js";
import type { ModuleMemory } from "./memory.js";
import { RotaryTable } from "./rotary.js";
import { checkStatus } from "./status.js";

/** In the C options, a length of 0 stands for the default length, and LADON_NONE (all bits set) stands for 0. */
const none = -1;
const lengthWord = (length: number): number => length || none;

/** The options of a run as the caller gives them. */
type Given = Record<string, any>;

/** Words of the C options by the option's name. */
type Words = Record<string, number | readonly number[]>;

/** Names of the options of a run. `boolean_keys` and `rotary_offset` come from other options of the run. */
const knownOptions = ({ options, context }: Description): string[] => {
  const names = options.map(({ name }) => name);
  const isDerived = (name: string): boolean =>
    names.some((other) => name === `${other}_keys` || name === `${other}_offset`);
  return [...names.filter((name) => !isDerived(name) && name !== "isa"), ...(context ? ["context"] : [])];
};

/** Calls the functions of one instance. All memory but the attention maps is allocated at the beginning. */
export class Runner {
  readonly #memory: ModuleMemory;
  readonly #description: Description;
  readonly #mask: MaskChoice;
  readonly #known: readonly string[];
  readonly #inputs: readonly ArrayInput[];
  readonly #rotary: RotaryTable | undefined;
  readonly #workspaceAt: number;
  readonly #cacheAt: number;
  readonly #optionsAt: number;
  readonly #xAt: number;
  readonly #yAt: number;
  #mapsAt = 0;
  #hasMaps = false;

  constructor(memory: ModuleMemory, description: Description, mask: MaskChoice) {
    const { queries, model, workspace, cache, options, rotary, context, keyModel, valueModel } = description;
    if (context && cache && keyModel !== valueModel) {
      fail("unsupported", "keys and values from two contexts", "one", "two");
    }
    this.#memory = memory;
    this.#description = description;
    this.#mask = mask;
    this.#known = knownOptions(description);
    const allocate = (bytes: number): number => memory.allocate(bytes).at;
    const words = options.reduce((sum, { count = 1 }) => sum + count, 0);
    this.#workspaceAt = allocate(workspace);
    this.#cacheAt = allocate(cache);
    this.#optionsAt = allocate(4 * words);
    this.#xAt = allocate(4 * queries * model);
    this.#yAt = allocate(4 * queries * model);
    this.#inputs = allocateInputs(memory, description);
    this.#rotary = rotary && new RotaryTable(memory, rotary);
    this.clear();
  }

  get cached(): number {
    return this.#memory.exports.cache_length?.(this.#cacheAt) ?? 0;
  }

  /** Empties the cache. */
  clear(): void {
    checkStatus(this.#memory.exports.cache_clear?.(this.#cacheAt));
  }

  /** Runs the kernel. Returns a view of y, [queries][model]. Nothing that a caller sees is written before the last check. */
  run(weightsAt: number, x: ArrayLike<number>, given: Given = {}): Float32Array {
    const { queries: mostQueries, model, context, cache } = this.#description;
    checkOptions(given, this.#known);
    this.#mask.check(given);
    const lengths = this.#lengths(given);
    const { queries, keys } = lengths;
    // Each row of x is a query. Without context and cache, each row is a key, too.
    const rows = context || cache ? queries : Math.max(queries, keys);
    checkLength("x", x, rows * model, mostQueries * model);
    this.#memory.write(this.#xAt, x);

    const contextAt = this.#needsContext(given) ? this.#inputOf("context").at : 0;
    const words = { ...this.#writeInputs(given, queries, keys), ...this.#lengthWords(lengths) };
    if (this.#rotary) {
      words.rotary_offset = this.#rotary.prepare(given.rotary);
      words.rotary = this.#rotary.at;
    }
    if (given.attention) words.attention = this.#mapPointers();
    this.#writeOptions(words);
    this.#call(contextAt, weightsAt);
    this.#hasMaps = Boolean(given.attention);
    return this.#memory.floats(this.#yAt, queries * model);
  }

  attention(layer = 0): Float32Array {
    const { layers = 1 } = this.#description;
    if (!this.#hasMaps) fail("attention", "attention of the last run", true, false);
    const floats = this.#mapFloats();
    return this.#memory.floats(this.#mapsAt + 4 * checkCount("layer", layer, layers - 1) * floats, floats);
  }

  #lengths(given: Given): { queries: number; keys: number; offset: number } {
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

  #lengthWords({ queries, keys, offset }: { queries: number; keys: number; offset: number }): Words {
    return { tokens: lengthWord(queries), queries: lengthWord(queries), keys: lengthWord(keys), offset };
  }

  /** A context is needed, except if the cache has one. */
  #needsContext(given: Given): boolean {
    return this.#description.context && Boolean(given.context || !this.cached);
  }

  #inputOf(name: string): ArrayInput {
    return this.#inputs.find((input) => input.name === name)!;
  }

  /** Copies the arrays of a run. Returns the words of their pointers and numbers of columns. */
  #writeInputs(given: Given, queries: number, keys: number): Words {
    const words: Words = {};
    for (const { name, required, shape } of this.#description.options) {
      if (required && shape && !given[name]) fail("option", name, `numbers of shape ${shape}`, given[name]);
    }
    for (const input of this.#inputs) {
      const { name, at, partOf } = input;
      const isNeeded = name === "context" && this.#needsContext(given);
      if (given[name] == null && !isNeeded) continue;
      words[`${name}_keys`] = lengthWord(writeInput(this.#memory, input, given[name], partOf(queries, keys)));
      words[name] = at;
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

  /** Writes the C struct of options. On wasm32, each member is one word; options that the run does not have are 0. */
  #writeOptions(words: Words): void {
    const members = this.#description.options.flatMap(
      ({ name, count = 1 }) => words[name] ?? Array.from({ length: count }, () => 0),
    );
    this.#memory.write(this.#optionsAt, members, Int32Array);
  }

  /** Calls the C function. With a cache, a new context is projected first. */
  #call(contextAt: number, weightsAt: number): void {
    const { cache, context } = this.#description;
    const { run, extend, attend, project_keys } = this.#memory.exports;
    const rest = [weightsAt, this.#yAt, this.#workspaceAt, this.#optionsAt];
    if (cache && contextAt) {
      checkStatus(project_keys!(contextAt, this.#cacheAt, weightsAt, this.#workspaceAt, this.#optionsAt));
    }
    const second = cache ? [this.#cacheAt] : context ? [contextAt] : [];
    checkStatus((run ?? extend ?? attend!)(this.#xAt, ...second, ...rest));
  }
}
