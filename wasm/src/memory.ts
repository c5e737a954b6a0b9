import { type ErrorCode, failOf } from "./errors.js";

/** What a module exports: functions of the C header, without NAME_. Pointers are numbers. */
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

/** A piece of a module's memory: where it begins, and its bytes. */
export interface Block {
  readonly at: number;
  readonly bytes: number;
}

export type NumberArray =
  | Float32ArrayConstructor
  | Int32ArrayConstructor
  | Uint32ArrayConstructor
  | Uint8ArrayConstructor;

/** A module that runs, with all of its memory: to let go of this is to free it. */
export interface Live {
  readonly exports: Exports;
  /** A piece of memory, aligned to 64 bytes. Memory grows where there is no room, and views of it end. */
  take(bytes: number): Block;
  /** One piece, the larger of two, is kept for whom it is enough. */
  give(block: Block | undefined): void;
  floats(at: number, count: number): Float32Array;
  /** Copies numbers, as that type has them, F32 where none is given. */
  put(at: number, values: ArrayLike<number>, type?: NumberArray): void;
}

export const liveOf = (module: WebAssembly.Module): Live => {
  const orFail = <T>(act: () => T, code: ErrorCode = "memory", what?: string): T => {
    try {
      return act();
    } catch (cause) {
      return failOf(code, cause, what);
    }
  };
  const exports = orFail(() => new WebAssembly.Instance(module).exports as unknown as Exports);
  const { memory } = exports;
  let top = exports.__heap_base.value;
  let spare: Block | undefined;
  return {
    exports,
    take(bytes) {
      const block = spare;
      if (block && block.bytes >= bytes) {
        spare = undefined;
        return block;
      }
      const at = Math.ceil(top / 64) * 64;
      const pages = Math.ceil((at + bytes - memory.buffer.byteLength) / 65536);
      if (pages > 0) orFail(() => memory.grow(pages));
      top = at + bytes;
      return { at, bytes };
    },
    give(block) {
      if (block && !(spare && spare.bytes > block.bytes)) spare = block;
    },
    floats: (at, count) => new Float32Array(memory.buffer, at, count),
    put: (at, values, type = Float32Array) =>
      orFail(() => new type(memory.buffer, at).set(values), "option", "numbers"),
  };
};
