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

/** A call whose options are in the module's memory. It may be made several times. */
export interface Call {
  readonly words: Words;
  /** The arguments of the function that computes. */
  readonly values: readonly number[];
}

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
  /** The name of the option that each word of the C struct of options belongs to, and its number among these words. */
  readonly #members: readonly (readonly [name: string, index: number])[];

  /** A workspace of a team has another number of bytes than the description says. */
  constructor(memory: ModuleMemory, description: Description, workspaceBytes: number = description.workspace) {
    const { cache, memoryCache, options, arrays, functions } = description;
    this.#members = options.flatMap(({ name, count = 1 }) => Array.from({ length: count }, (_, i) => [name, i] as const));
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
      options: memory.allocate(4 * this.#members.length).at,
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
   * Writes the C struct of options into the module's memory, and returns a call with these options. On wasm32, each pointer
   * and number is one word of 32 bits. Members that are missing in `words` become 0.
   */
  prepare(words: Words): Call {
    const struct = this.#memory.integers(this.#own.options!, this.#members.length);
    let at = 0;
    for (const [name, index] of this.#members) {
      const word = words[name] ?? 0;
      struct[at++] = typeof word === "number" ? word : word[index]!;
    }
    return { words, values: this.#arguments(this.#compute, words) };
  }

  /**
   * Calls the kernel. If the call has the `sources`, first projects them to keys and values, and stores these in the
   * cache. `isFilled` says whether this cache has earlier keys and values. After an error, the cache has them again.
   */
  call({ words, values }: Call, isFilled = false): void {
    const restore = this.#fill(words, isFilled);
    try {
      this.#invoke(this.#compute, values);
    } catch (error) {
      restore();
      throw error;
    }
  }

  /**
   * Like `call`, but the workers of a team compute. Only the projection of the `sources` is computed by this thread.
   * `tokens` is the larger of the numbers of queries and keys.
   */
  async callTogether(team: Team, tokens: number, { words, values }: Call, isFilled = false): Promise<void> {
    const restore = this.#fill(words, isFilled);
    try {
      await team.call(values, tokens);
    } catch (error) {
      restore();
      throw error;
    }
  }

  /** Computes all phases of a call by this thread. */
  callPhases({ values }: Call): void {
    const name = `${this.#compute.name}_phase` as FunctionName;
    for (let phase = 0; phase < this.#description.threads!.phases; ++phase) {
      checkStatus(this.#memory.call(name, phase, 0, 1, ...values)); // share 0 of 1
    }
  }

  #arguments({ parameters }: ModuleFunction, words: Words): number[] {
    return parameters.map((each) => (this.#own[each] ?? words[each] ?? 0) as number);
  }

  #invoke({ name }: ModuleFunction, values: readonly number[]): void {
    checkStatus(this.#memory.call(name as FunctionName, ...values));
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
      this.#invoke(project, this.#arguments(project, words));
    } catch (error) {
      restore();
      throw error;
    }
    return restore;
  }
}
