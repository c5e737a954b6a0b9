// SPDX-License-Identifier: Apache-2.0
// Reads the header of a safetensors file, which is JSON that lists the tensors.
import { isSize, product } from "./check.js";
import { fail } from "./fail.js";
import { floatsOf } from "./narrow-floats.js";
import type { GivenTensor } from "./weight-plan.js";

/** A tensor of a file. */
export interface FileTensor extends GivenTensor {
  readonly dtype: string;
  /** The number of bytes from the end of the header to the first byte of the tensor. */
  readonly begin: number;
}

/**
 * Maps each dtype that the package reads to the number of bytes of an element, and to the name of the type in this
 * package.
 */
const knownTypes: ReadonlyMap<string, readonly [size: number, type: string]> = new Map([
  ["F32", [4, "float32"]],
  ["F16", [2, "F16"]],
  ["BF16", [2, "BF16"]],
  ["I8", [1, "int8"]],
  ["U8", [1, "int4"]], // `ladon-weights quantise --bits 4` stores int4 weights as bytes
  ["I32", [4, "int32"]],
]);

const parseJson = (text: Uint8Array): object => {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(text));
  } catch (cause) {
    fail("weights", "safetensors header", "JSON", "something else", cause);
  }
  return typeof header === "object" && header ? header : fail("weights", "safetensors header", "an object", header);
};

const textOf = (entry: unknown): string => {
  try {
    return JSON.stringify(entry);
  } catch {
    return "deeply nested values"; // stringify is recursive, parse is not
  }
};

const tensorOf = (name: string, entry: any): FileTensor => {
  const { dtype, shape, data_offsets: offsets } = entry ?? {};
  const isSound =
    typeof dtype === "string" &&
    [shape, offsets].every((list) => Array.isArray(list) && list.every(isSize)) &&
    offsets.length === 2 &&
    offsets[0] <= offsets[1];
  if (!isSound) fail("weights", `entry of ${name}`, "dtype, shape and two data_offsets", textOf(entry));
  const [begin, end] = offsets;
  const bytes = end - begin;
  const [size, type] = knownTypes.get(dtype) ?? [0, `dtype ${dtype}`];
  const length = product(shape);
  if (size && size * length !== bytes) fail("weights", `bytes of ${name}`, size * length, bytes);
  return { dtype, type, begin, bytes, length, shape, widen: size === 2 ? floatsOf[dtype] : undefined };
};

/** Throws unless the tensors follow each other without overlaps and gaps. Returns the sum of their sizes in bytes. */
const checkLayout = (inOrder: readonly (readonly [string, FileTensor])[]): number => {
  let end = 0;
  for (const [name, { begin, bytes }] of inOrder) {
    if (begin !== end) fail("weights", `first byte of ${name}`, end, begin);
    end += bytes;
  }
  return end;
};

/** Returns the tensors of a file by name, in the order of their bytes, and the size of the data behind the header. */
export const parseHeader = (text: Uint8Array): { tensors: ReadonlyMap<string, FileTensor>; bytes: number } => {
  const tensors = Object.entries(parseJson(text))
    .filter(([name]) => name !== "__metadata__")
    .map(([name, entry]) => [name, tensorOf(name, entry)] as const)
    .sort(([, a], [, b]) => a.begin - b.begin || a.bytes - b.bytes);
  return { tensors: new Map(tensors), bytes: checkLayout(tensors) };
};
