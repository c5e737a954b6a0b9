// SPDX-License-Identifier: Apache-2.0
// Copies the arrays that a run reads into the module's memory: x, the context or the memory, the data of masks, the
// slopes of ALiBi, and the logits of sinks.
import { checkLength, product } from "./check.js";
import type { Description } from "./description.js";
import type { ModuleMemory } from "./memory.js";
import { arrayTypes } from "./option-types.js";

/** The numbers of tokens of a run. */
export interface Lengths {
  readonly queries: number;
  readonly keys: number;
  /** The number of tokens of a decoder's memory. */
  readonly memory: number;
}

/**
 * An array that runs read, such as the data of a mask. `at` is the address of its copy in the module's memory, which
 * has room for the whole `shape`.
 */
export interface ArrayInput {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  readonly axes: readonly string[];
  /** The array is a parameter of a function, and not an option. */
  readonly isParameter: boolean;
  /** The option that holds the number of columns, such as "boolean_keys". */
  readonly columns: string | undefined;
  readonly at: number;
}

/** Allocates memory for copies of all arrays that a kernel can read. */
export const allocateInputs = (memory: ModuleMemory, { arrays, options }: Description): ArrayInput[] =>
  [...arrays, ...options]
    .filter(({ shape, output }) => shape && !output)
    .map(({ name, type, shape = [], axes = [] }, i) => ({
      name,
      type,
      shape,
      axes,
      isParameter: i < arrays.length - 1, // one of the arrays is the output
      columns: options.find(({ of }) => of === name)?.name,
      at: memory.allocate(arrayTypes[type]!.BYTES_PER_ELEMENT * product(shape)).at,
    }));

/**
 * An array such as a mask has room for the largest run. Returns the shape of the part that a run with these lengths
 * reads.
 */
export const partOf = (
  { name, shape = [], axes = [] }: { name: string; shape?: readonly number[]; axes?: readonly string[] },
  { queries, keys, memory }: Lengths,
): number[] =>
  shape.map((extent, i) => {
    switch (axes[i]) {
      case "queries":
        return queries;
      case "keys":
        return name.startsWith("memory.") ? memory : keys;
      case "memory":
        return memory;
      default:
        return extent;
    }
  });

/** Returns a part of an array. A part of a typed array is a view. */
const slice = (values: any, first: number, count: number): ArrayLike<number> =>
  ArrayBuffer.isView(values)
    ? (values as Float32Array).subarray(first, first + count)
    : Array.prototype.slice.call(values, first, first + count);

/**
 * Copies `source` to the address `input.at`. `source` has either the whole shape of `input` or the shape `part`.
 * Returns the number of columns of `source`, or its length if `source` has one axis. Some arrays have an option for
 * this number, such as boolean_keys for the array `boolean`. The caller then passes the number to the kernel.
 */
export const writeInput = (memory: ModuleMemory, input: ArrayInput, source: any, part: readonly number[]): number => {
  const { name, type, shape, axes, at } = input;
  const all = product(shape);
  checkLength(name, source, product(part), all, axes.length ? " (fewer: option tokens)" : "");
  const given = source.length === all ? shape : part;
  // For arrays of bytes, converts every value to 0 or 1: 0, 0n and false become 0, and all others become 1. Otherwise,
  // the value 256 would become the byte 0.
  const values = type === "uint8" ? Uint8Array.from(source, Boolean as any) : source;
  const Type = arrayTypes[type]!;
  const [rows = 1, columns] = given.slice(-2) as [number, number?];
  const mostRows = shape.at(-2)!;
  if (columns === undefined || rows === mostRows) {
    memory.write(at, values, Type);
    return columns ?? rows;
  }
  const heads = product(given.slice(0, -2));
  for (let head = 0; head < heads; ++head) {
    const ofHead = heads > 1 ? slice(values, head * rows * columns, rows * columns) : values;
    memory.write(at + Type.BYTES_PER_ELEMENT * head * mostRows * columns, ofHead, Type);
  }
  return columns;
};
