import { attempt } from "./fail.js";

/** The exports of a module: the functions of the C header, without the kernel's name. Pointers are numbers. */
export interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly __heap_base: WebAssembly.Global;
  readonly run?: (...pointers: number[]) => number;
  readonly extend?: (...pointers: number[]) => number;
  readonly attend?: (...pointers: number[]) => number;
  readonly project_keys?: (...pointers: number[]) => number;
  readonly cache_clear?: (cache: number) => number;
  readonly cache_length?: (cache: number) => number;
  readonly rotary_fill?: (table: number, base: number, scaling: number) => number;
}

/** A block of a module's memory: the address of its first byte, and its size in bytes. */
export interface Block {
  readonly at: number;
  readonly bytes: number;
}

export type NumberArray =
  | Float32ArrayConstructor
  | Int32ArrayConstructor
  | Uint32ArrayConstructor
  | Uint8ArrayConstructor;

/** An instantiated module and the allocation of its memory. */
export class ModuleMemory {
  readonly exports: Exports;
  #top: number;
  #spare: Block | undefined;

  constructor(module: WebAssembly.Module) {
    this.exports = attempt("memory", () => new WebAssembly.Instance(module).exports as unknown as Exports);
    this.#top = this.exports.__heap_base.value;
  }

  /** Allocates a block, aligned to 64 bytes. If the memory grows, views of the memory become empty. */
  allocate(bytes: number): Block {
    const spare = this.#spare;
    if (spare && spare.bytes >= bytes) {
      this.#spare = undefined;
      return spare;
    }
    const { memory } = this.exports;
    const at = Math.ceil(this.#top / 64) * 64;
    const pages = Math.ceil((at + bytes - memory.buffer.byteLength) / 65536);
    if (pages > 0) attempt("memory", () => memory.grow(pages));
    this.#top = at + bytes;
    return { at, bytes };
  }

  /** Gives a block back. Only the larger of two such blocks is kept; a later allocation that fits uses it. */
  release(block: Block | undefined): void {
    if (block && !(this.#spare && this.#spare.bytes > block.bytes)) this.#spare = block;
  }

  /** Returns a view. */
  floats(at: number, count: number): Float32Array {
    return new Float32Array(this.exports.memory.buffer, at, count);
  }

  /** Copies numbers, converted to the element type. */
  write(at: number, values: ArrayLike<number>, Type: NumberArray = Float32Array): void {
    attempt("option", () => new Type(this.exports.memory.buffer, at).set(values), "numbers");
  }
}
