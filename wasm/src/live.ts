import type { Description } from "./description.js";
import { fail } from "./errors.js";
import { type Copy, copier } from "./inputs.js";
import { type Memory, memoryOf } from "./memory.js";

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

/** All of an instance that holds on to its memory: `free` lets go of this. */
export interface Live {
  readonly exports: Exports;
  readonly memory: Memory;
  readonly copy: Copy;
}

export const liveOf = (module: WebAssembly.Module, description: Description): Live => {
  try {
    const exports = new WebAssembly.Instance(module).exports as unknown as Exports;
    const memory = memoryOf(exports.memory, exports.__heap_base.value);
    return { exports, memory, copy: copier(description, memory, exports.memory) };
  } catch (cause) {
    return fail("memory", `instance: ${cause}`, undefined, undefined, cause);
  }
};

export const floats = ({ exports }: Live, at: number, count: number): Float32Array =>
  new Float32Array(exports.memory.buffer, at, count);

// The members of ladon_status, without LADON_.
const statuses = (
  "OK NULL_INPUT NULL_WEIGHTS NULL_OUTPUT NULL_WORKSPACE NULL_OPTION MISALIGNED LENGTH_BEYOND_SHAPE OVERLAP " +
  "NO_SUCH_PHASE CACHE_NOT_CLEARED CACHE_FULL UNSUPPORTED_ISA BAD_NUMBER"
).split(" ");

/** Throws what a status says. */
export const check = (status = 0): void => {
  if (status) fail(status === 7 || status === 11 ? "length" : "status", "kernel", statuses[0], statuses[status] ?? status);
};
