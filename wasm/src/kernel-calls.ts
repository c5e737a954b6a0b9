// SPDX-License-Identifier: Apache-2.0
import type { Description, ModuleFunction } from "./description.js";
import { fail } from "./fail.js";
import type { FunctionName, ModuleMemory } from "./memory.js";
import { checkStatus } from "./status.js";

/**
 * The values of the members in the C struct of options, and the addresses of the arrays that a call takes, by name. Each
 * value is a 32-bit word. A member that is an array of pointers (`count` in description.ts) has a word for each of them,
 * or one word that all of them get.
 */
export type Words = Record<string, number | readonly number[]>;

const functionOf = ({ functions }: Description, names: readonly string[]): ModuleFunction | undefined =>
  functions.find(({ name }) => names.includes(name));

/**
 * The C functions of a kernel, and the memory that the functions need in addition to inputs and outputs: workspace,
 * caches and options.
 */
export class KernelCalls {
  /** The names of the arrays from which keys and values are projected into a cache, such as "context". */
  readonly sources: readonly string[];
  readonly #memory: ModuleMemory;
  readonly #description: Description;
  /** The memory of the parameters that the caller of `call` does not give. */
  readonly #own: Readonly<Record<string, number>>;
  readonly #compute: ModuleFunction;
  /** The function that fills a cache from the `sources`. */
  readonly #project: ModuleFunction | undefined;

  constructor(memory: ModuleMemory, description: Description) {
    const { workspace, cache, memoryCache, options, arrays, functions } = description;
    const words = options.reduce((sum, { count = 1 }) => sum + count, 0);
    const names = ["run", "extend", "attend"];
    const compute = functionOf(description, names);
    this.#compute = compute ?? fail("not-a-module", "functions of a module", names, functions);
    this.#project = functionOf(description, ["project_keys", "project_memory"]);
    const ofProject = this.#project?.parameters ?? [];
    this.sources = arrays.map(({ name }) => name).filter((name) => ofProject.includes(name));
    this.#memory = memory;
    this.#description = description;
    this.#own = {
      workspace: memory.allocate(workspace).at,
      cache: memory.allocate(cache).at,
      memory_cache: memory.allocate(memoryCache).at,
      options: memory.allocate(4 * words).at,
    };
  }

  /** The number of tokens in the cache. */
  get cached(): number {
    return this.#description.cache && this.#memory.call("cache_length", this.#own.cache!);
  }

  /** Empties the cache. The memory of a new cache is arbitrary, so clear() must be called before its first use. */
  clear(): void {
    if (this.#description.cache) checkStatus(this.#memory.call("cache_clear", this.#own.cache!));
  }

  /**
   * Writes the C struct of options into the module's memory. On wasm32, each pointer and number is one word of 32 bits.
   * Members that are missing in `words` become 0.
   */
  setOptions(words: Words): void {
    const members = this.#description.options.flatMap(({ name, count = 1 }) => {
      const word = words[name] ?? 0;
      return typeof word === "number" ? Array<number>(count).fill(word) : word;
    });
    this.#memory.write(this.#own.options!, members, Int32Array);
  }

  /**
   * Calls the kernel. If `words` has the `sources`, first projects them to keys and values, and stores these in the
   * cache. `isFilled` says whether this cache has earlier keys and values. After an error, the cache has them again.
   */
  call(words: Words, isFilled = false): void {
    const project = this.#project;
    if (!project || words[this.sources[0]!] === undefined) return this.#invoke(this.#compute, words);
    this.#restoreOnError(isFilled, () => {
      this.#invoke(project, words);
      this.#invoke(this.#compute, words);
    });
  }

  #invoke({ name, parameters }: ModuleFunction, words: Words): void {
    const values: Words = { ...words, ...this.#own };
    checkStatus(this.#memory.call(name as FunctionName, ...parameters.map((each) => (values[each] ?? 0) as number)));
  }

  /** Calls `act`. If `act` throws, gives the cache of the `sources` its earlier content. */
  #restoreOnError(isFilled: boolean, act: () => void): void {
    const { cache: ofText, memoryCache } = this.#description;
    const [at, bytes] = memoryCache ? [this.#own.memory_cache!, memoryCache] : [this.#own.cache!, ofText];
    const cache = (): Uint8Array => new Uint8Array(this.#memory.exports.memory.buffer, at, bytes);
    const before = isFilled ? cache().slice() : undefined; // an empty cache needs no copy
    try {
      act();
    } catch (error) {
      if (before) cache().set(before);
      else if (!memoryCache) this.clear();
      throw error;
    }
  }
}
