// SPDX-License-Identifier: Apache-2.0
import type { Description } from "./description.js";
import { fail } from "./fail.js";
import type { ModuleMemory } from "./memory.js";
import { checkStatus } from "./status.js";

/**
 * The values of the members in the C struct of options, by name. Each value is a 32-bit word. A member that is an array
 * of pointers (`count` in description.ts) has a word for each of them, or one word that all of them get.
 */
export type Words = Record<string, number | readonly number[]>;

/** The addresses of the arrays that a call reads and writes. `context` is 0 if the call has no context. */
export interface Addresses {
  readonly x: number;
  readonly context: number;
  readonly weights: number;
  readonly y: number;
}

/**
 * The C functions of a kernel, and the memory that the functions need in addition to inputs and outputs: workspace,
 * cache and options.
 */
export class KernelCalls {
  readonly #memory: ModuleMemory;
  readonly #description: Description;
  readonly #workspace: number;
  readonly #cache: number;
  readonly #options: number;

  constructor(memory: ModuleMemory, description: Description) {
    const { workspace, cache, options, context, keyModel, valueModel } = description;
    if (context && cache && keyModel !== valueModel) {
      fail("unsupported", "keys and values from two contexts", "one", "two");
    }
    const words = options.reduce((sum, { count = 1 }) => sum + count, 0);
    this.#memory = memory;
    this.#description = description;
    this.#workspace = memory.allocate(workspace).at;
    this.#cache = memory.allocate(cache).at;
    this.#options = memory.allocate(4 * words).at;
  }

  /** The number of tokens in the cache. */
  get cached(): number {
    return this.#description.cache && this.#memory.call("cache_length", this.#cache);
  }

  /** Empties the cache. The memory of a new cache is arbitrary, so clear() must be called before its first use. */
  clear(): void {
    if (this.#description.cache) checkStatus(this.#memory.call("cache_clear", this.#cache));
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
    this.#memory.write(this.#options, members, Int32Array);
  }

  /**
   * Calls the kernel. If the kernel has a cache and `context` is given, first projects the context to keys and values,
   * and stores them in the cache.
   */
  call({ x, context, weights, y }: Addresses): void {
    const hasCache = this.#description.cache > 0;
    const memory = this.#memory;
    const second = hasCache ? [this.#cache] : this.#description.context ? [context] : [];
    const { run, extend } = memory.exports;
    const name = run ? "run" : extend ? "extend" : "attend";
    const compute = (): void =>
      checkStatus(memory.call(name, x, ...second, weights, y, this.#workspace, this.#options));
    if (!hasCache || !context) return compute();
    this.#restoreOnError(() => {
      checkStatus(memory.call("project_keys", context, this.#cache, weights, this.#workspace, this.#options));
      compute();
    });
  }

  /** Calls `act`. If `act` throws, gives the cache its earlier content. */
  #restoreOnError(act: () => void): void {
    const cache = (): Uint8Array =>
      new Uint8Array(this.#memory.exports.memory.buffer, this.#cache, this.#description.cache);
    const before = this.cached ? cache().slice() : undefined; // an empty cache needs no copy
    try {
      act();
    } catch (error) {
      if (before) cache().set(before);
      else this.clear();
      throw error;
    }
  }
}
