// SPDX-License-Identifier: Apache-2.0
// Copies the arrays that a run reads into the module's memory: the context, the data of masks, the slopes of ALiBi, and
// the logits of sinks.
import { checkLength, product } from "./check.js";
import type { Description, Option } from "./description.js";
import type { ModuleMemory } from "./memory.js";
import { arrayTypes } from "./option-types.js";

/**
 * An array that is an option, such as a mask, has room for the largest run. Returns the shape of the part that a run of
 * `queries` queries and `keys` keys reads.
 */
type PartOf = (queries: number, keys: number) => readonly number[];

/**
 * An array that runs read, such as the data of a mask. `at` is the address of its copy in the module's memory, which
 * has room for the whole `shape`.
 */
export interface ArrayInput {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  readonly partOf: PartOf;
  readonly at: number;
}

/** Allocates memory for copies of all arrays that a kernel can read: the options that are arrays, and the context. */
export const allocateInputs = (memory: ModuleMemory, description: Description): ArrayInput[] => {
  const { context, keys: mostKeys, keyModel } = description;
  const options: Option[] = description.options.filter(({ shape, output }) => shape && !output);
  if (context) options.push({ name: "context", type: "float32", shape: [mostKeys, keyModel], axes: ["keys", "model"] });
  return options.map(({ name, type, shape = [], axes = [] }) => ({
    name,
    type,
    shape,
    partOf: (queries, keys) => {
      const lengths = new Map([
        ["queries", queries],
        ["keys", keys],
      ]);
      return shape.map((extent, i) => lengths.get(axes[i]!) ?? extent);
    },
    at: memory.allocate(arrayTypes[type]!.BYTES_PER_ELEMENT * product(shape)).at,
  }));
};

/**
 * Copies `source` to the address `input.at`. `source` has either the whole shape of `input` or the shape `part`.
 * Returns the number of columns of `source`, or its length if `source` has one axis. Some arrays have an option for
 * this number, such as boolean_keys for the array `boolean`. The caller then passes the number to the kernel.
 */
export const writeInput = (memory: ModuleMemory, input: ArrayInput, source: any, part: readonly number[]): number => {
  const { name, type, shape, at } = input;
  const all = product(shape);
  checkLength(name, source, product(part), all);
  const given = source.length === all ? shape : part;
  // For arrays of bytes, converts every value to 0 or 1: 0, 0n and false become 0, and all others become 1. Otherwise,
  // the value 256 would become the byte 0.
  const values = type === "uint8" ? Uint8Array.from(source, Boolean as any) : source;
  const Type = arrayTypes[type]!;
  const [rows = 1, columns] = given.slice(-2) as [number, number?];
  if (columns === undefined) {
    memory.write(at, values, Type);
    return rows;
  }
  const heads = product(given.slice(0, -2));
  for (let head = 0; head < heads; ++head) {
    const first = head * rows * columns;
    const ofHead = heads > 1 ? Array.prototype.slice.call(values, first, first + rows * columns) : values;
    memory.write(at + Type.BYTES_PER_ELEMENT * head * shape.at(-2)! * columns, ofHead, Type);
  }
  return columns;
};
