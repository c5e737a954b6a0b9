// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file: JSON that lists the tensors.
import { isSize, product } from "./check.js";
import { fail } from "./fail.js";
import type { StoredTensor, StoredTensors } from "./find-tensors.js";

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

const tensorOf = (name: string, entry: any): StoredTensor => {
  const { dtype, shape, data_offsets: offsets } = entry ?? {};
  const isSound =
    typeof dtype === "string" &&
    [shape, offsets].every((list) => Array.isArray(list) && list.every(isSize)) &&
    offsets.length === 2 &&
    offsets[0] <= offsets[1];
  if (!isSound) fail("weights", `entry of ${name}`, "dtype, shape and two data_offsets", textOf(entry));
  const [begin, end] = offsets;
  const length = (end - begin) / 4;
  if (dtype === "F32" && product(shape) !== length) fail("weights", `bytes of ${name}`, 4 * product(shape), 4 * length);
  const isReadable = dtype === "F32" && begin % 4 === 0;
  const reject = (): never => fail("weights", name, "F32 at a multiple of 4 bytes", `${dtype} at ${begin}`);
  return { begin, length, shape, reject: isReadable ? undefined : reject };
};

/** Throws unless the tensors follow each other without overlaps and gaps. Returns the number of bytes. */
const checkLayout = (tensors: StoredTensors): number => {
  let end = 0;
  const inOrder = [...tensors].sort(([, a], [, b]) => a.begin - b.begin || a.length - b.length);
  for (const [name, { begin, length }] of inOrder) {
    if (begin !== end) fail("weights", `first byte of ${name}`, end, begin);
    end += 4 * length;
  }
  return end;
};

/** Returns the tensors of a file by name, and the number of bytes of the data behind the header. */
export const parseHeader = (text: Uint8Array): { tensors: StoredTensors; bytes: number } => {
  const tensors = new Map<string, StoredTensor>();
  for (const [name, entry] of Object.entries(parseJson(text))) {
    if (name !== "__metadata__") tensors.set(name, tensorOf(name, entry));
  }
  return { tensors, bytes: checkLayout(tensors) };
};
