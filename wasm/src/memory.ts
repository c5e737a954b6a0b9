// SPDX-License-Identifier: Apache-2.0
import type { Activations } from "./activations.js";
import { isSize } from "./check.js";
import { attempt, fail, failFor } from "./fail.js";
import { checkStatus } from "./status.js";

/**
 * The exports of a module. The functions are those of the C header. Their names lack the kernel's name. Pointers are
 * passed as numbers.
 */
export interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly __heap_base: WebAssembly.Global<"i32">;
  readonly run?: (...pointers: number[]) => number;
  readonly extend?: (...pointers: number[]) => number;
  readonly attend?: (...pointers: number[]) => number;
  readonly run_phase?: (...numbers: number[]) => number; // run_phase and extend_phase: of a module for threads
  readonly extend_phase?: (...numbers: number[]) => number;
  readonly project_keys?: (...pointers: number[]) => number;
  readonly project_memory?: (...pointers: number[]) => number;
  readonly cache_clear?: (cache: number) => number;
  readonly cache_length?: (cache: number) => number;
  readonly rotary_fill?: (table: number, base: number, scaling: number) => number;
  readonly rotary_scale?: (table: number, scaling: number) => number;
  readonly relative_fill?: (table: number, bias: number, buckets: number, causal: number, maxDistance: number) => number;
  readonly set_activations?: (bits: number, isSigned: number) => number;
  readonly quantise_rows?: (...numbers: number[]) => number;
  readonly sum_rows?: (...numbers: number[]) => void;
  readonly start?: (weights: number, bytes: number) => number; // start, pool and head: of a model
  readonly pool?: (...pointers: number[]) => number;
  readonly head?: (...pointers: number[]) => number;
  readonly run_with_types?: (...pointers: number[]) => number; // these three: of a model that takes types of tokens
  readonly pool_with_types?: (...pointers: number[]) => number;
  readonly head_with_types?: (...pointers: number[]) => number;
  readonly text_bytes?: () => number; // text_bytes to text_logits: of a language model
  readonly text_begin?: (...pointers: number[]) => number;
  readonly text_prompt?: (...pointers: number[]) => number;
  readonly text_next?: (token: number, ...pointers: number[]) => number;
  readonly text_logits?: (text: number) => number;
}

export type FunctionName = Exclude<keyof Exports, "memory" | "__heap_base">;

/** Throws "memory" if too little memory is left, and "not-a-module" if the module cannot be a kernel. */
const instantiate = (module: WebAssembly.Module, memory?: WebAssembly.Memory): Exports => {
  let exports: Exports;
  try {
    exports = { memory, ...new WebAssembly.Instance(module, { env: { memory } } as any).exports } as unknown as Exports;
  } catch (cause) {
    // For lack of memory, some engines throw a RangeError, and others throw a string.
    const isWrong = cause instanceof Error && !(cause instanceof RangeError);
    return failFor(isWrong ? "not-a-module" : "memory", cause);
  }
  const isKernel = exports.memory instanceof WebAssembly.Memory && isSize(exports.__heap_base?.value);
  return isKernel ? exports : fail("not-a-module", "exports", "memory,__heap_base", Object.keys(exports));
};

/** A block of a module's memory: the address of its first byte, and its size in bytes. */
export interface Block {
  at: number;
  bytes: number;
}

export type NumberArray =
  | Float32ArrayConstructor
  | Float64ArrayConstructor
  | Int8ArrayConstructor
  | Int32ArrayConstructor
  | Uint16ArrayConstructor
  | Uint32ArrayConstructor
  | Uint8ArrayConstructor;

/** Instantiates a module, and allocates blocks in its memory. */
export class ModuleMemory {
  readonly exports: Exports;
  /** The blocks that are not in use, sorted by address. The last block has the size Infinity, because memory grows. */
  #free: Block[];

  /**
   * Instantiates the module. If `activations` is defined, calls set_activations. Only int8 modules that support 7 and 8
   * bits export this function. A module for threads needs `memory`, which it imports.
   */
  constructor(module: WebAssembly.Module, activations?: Activations, memory?: WebAssembly.Memory) {
    this.exports = instantiate(module, memory);
    if (activations) checkStatus(this.call("set_activations", activations.bits, Number(activations.isSigned)));
    const at = Math.ceil(this.exports.__heap_base.value / 64) * 64;
    this.#free = [{ at, bytes: Infinity }];
  }

  /**
   * Finds a place for a block, aligned to 64 bytes. Does not grow the memory, so the caller must call `reach` before it
   * uses the bytes of the block.
   */
  reserve(bytes: number): Block {
    const size = Math.ceil(bytes / 64) * 64;
    const place = this.#free.find((one) => !(one.bytes < size))!;
    const { at } = place;
    place.at += size;
    place.bytes -= size;
    return { at, bytes: size };
  }

  /** Grows the memory, if necessary, to at least `end` bytes. After a growth, all views of the memory are empty. */
  reach(end: number): void {
    const { memory } = this.exports;
    const pages = Math.ceil((end - memory.buffer.byteLength) / 65536);
    // If a damaged description made `end` NaN, `pages` is NaN, and `grow` throws.
    if (!(pages <= 0)) attempt("memory", () => memory.grow(pages));
  }

  /** Allocates a block, aligned to 64 bytes. If the memory grows, views of the memory become empty. */
  allocate(bytes: number): Block {
    const block = this.reserve(bytes);
    try {
      this.reach(block.at + bytes);
    } catch (error) {
      this.release(block);
      throw error;
    }
    return block;
  }

  /** Releases a block. Adjacent blocks that are not in use become one block. */
  release(block: Block | undefined): void {
    if (!block) return;
    const merged: Block[] = [];
    for (const one of [...this.#free, block].sort((a, b) => a.at - b.at)) {
      const last = merged.at(-1);
      if (last && last.at + last.bytes === one.at) last.bytes += one.bytes;
      else merged.push(one);
    }
    this.#free = merged;
  }

  /** Calls a C function. Throws "not-a-module" if the function is missing or traps. */
  call(name: FunctionName, ...args: number[]): number {
    const call = (): number => (this.exports[name] as (...numbers: number[]) => number)(...args);
    return attempt("not-a-module", call, name);
  }

  /** Returns a view of `count` floats from the address `at`. The view becomes empty if the memory grows. */
  floats(at: number, count: number): Float32Array {
    return new Float32Array(this.exports.memory.buffer, at, count);
  }

  /** Returns a view of `count` 32-bit integers from the address `at`. The view becomes empty if the memory grows. */
  integers(at: number, count: number): Int32Array {
    return new Int32Array(this.exports.memory.buffer, at, count);
  }

  /** Copies `values` to the address `at`, converted to the element type of `Type`. */
  write(at: number, values: ArrayLike<number>, Type: NumberArray = Float32Array): void {
    attempt("option", () => new Type(this.exports.memory.buffer, at).set(values), "numbers");
  }
}
