// SPDX-License-Identifier: Apache-2.0
import type { Description, ModuleFunction } from "./description.js";
import { fail } from "./fail.js";
import type { FunctionName, ModuleMemory } from "./memory.js";
import { checkStatus } from "./status.js";
import type { Team } from "./team.js";

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

  /** A workspace of a team has another number of bytes than the description says. */
  constructor(memory: ModuleMemory, description: Description, workspaceBytes: number = description.workspace) {
    const { cache, memoryCache, options, arrays, functions } = description;
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
      workspace: memory.allocate(workspaceBytes).at,
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
    const restore = this.#fill(words, isFilled);
    try {
      this.#invoke(this.#compute, words);
    } catch (error) {
      restore();
      throw error;
    }
  }

  /**
   * Like `call`, but the workers of a team compute. Only the projection of the `sources` is computed by this thread.
   * `tokens` is the larger of the numbers of queries and keys.
   */
  async callTogether(team: Team, tokens: number, words: Words, isFilled = false): Promise<void> {
    const restore = this.#fill(words, isFilled);
    try {
      await team.call(this.#arguments(this.#compute, words), tokens);
    } catch (error) {
      restore();
      throw error;
    }
  }

  /** Computes all phases of a call by this thread. */
  callPhases(words: Words): void {
    const name = `${this.#compute.name}_phase` as FunctionName;
    for (let phase = 0; phase < this.#description.threads!.phases; ++phase) {
      checkStatus(this.#memory.call(name, phase, 0, 1, ...this.#arguments(this.#compute, words))); // share 0 of 1
    }
  }

  #arguments({ parameters }: ModuleFunction, words: Words): number[] {
    const values: Words = { ...words, ...this.#own };
    return parameters.map((each) => (values[each] ?? 0) as number);
  }

  #invoke(called: ModuleFunction, words: Words): void {
    checkStatus(this.#memory.call(called.name as FunctionName, ...this.#arguments(called, words)));
  }

  /** Fills a cache from the `sources`, if given. Returns a function that gives the cache its earlier content. */
  #fill(words: Words, isFilled: boolean): () => void {
    const project = this.#project;
    if (!project || words[this.sources[0]!] === undefined) return () => {};
    const { cache: ofText, memoryCache } = this.#description;
    const [at, bytes] = memoryCache ? [this.#own.memory_cache!, memoryCache] : [this.#own.cache!, ofText];
    const cache = (): Uint8Array => new Uint8Array(this.#memory.exports.memory.buffer, at, bytes);
    const before = isFilled ? cache().slice() : undefined; // an empty cache needs no copy
    const restore = (): void => {
      if (before) cache().set(before);
      else if (!memoryCache) this.clear();
    };
    try {
      this.#invoke(project, words);
    } catch (error) {
      restore();
      throw error;
    }
    return restore;
  }
}
