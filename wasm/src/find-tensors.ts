// SPDX-License-Identifier: Apache-2.0
// Finds the tensors of a kernel among the tensors of a file or of a record of arrays.
import { product } from "./check.js";
import { type Description, type Slot, slotsOf } from "./description.js";
import { attempt, fail } from "./fail.js";
import { memberFinder } from "./tensor-names.js";

/** A tensor in a block of memory. */
export interface StoredTensor {
  /** The offset of the first byte from the beginning of the block. */
  readonly begin: number;
  /** The number of elements. */
  readonly length: number;
  /** Undefined if only the length is known. */
  readonly shape?: readonly number[];
  /** Throws the reason why the tensor cannot be read as floats in its place. Undefined if it can. */
  readonly reject?: () => never;
}

export type StoredTensors = ReadonlyMap<string, StoredTensor>;

/**
 * Returns the offset of the tensor that each pointer of the C function's weights points to, in bytes from the beginning
 * of the block. Tensors outside the prefix are ignored. Throws "weights" if a tensor is missing or superfluous. With
 * `isFile`, a tensor is superfluous only if other kernels of this kind have it, such as one more layer or a bias:
 * a file may contain embeddings. Throws "shape" if a tensor has another shape than the kernel reads.
 */
export type FindTensors = (tensors: StoredTensors, prefix?: string, isFile?: boolean) => number[];

/** Tensors by the member that they are for, each with its name. */
type Members = Map<string, readonly [name: string, tensor: StoredTensor]>;

const projections = ["query_proj_", "key_proj_", "value_proj_"] as const;

/** Throws unless the tensor has the shape of the slot. Returns the offset of each part that has its own pointer. */
const offsetsIn = ({ shape, pointers }: Slot, name: string, tensor: StoredTensor): number[] => {
  tensor.reject?.();
  const length = product(shape);
  const [expected, actual] = tensor.shape ? [shape, tensor.shape] : [length, tensor.length];
  if (`${expected}` !== `${actual}`) fail("shape", `shape of ${name}`, expected, actual);
  return Array.from({ length: pointers }, (_, i) => tensor.begin + (4 * i * length) / pointers);
};

/**
 * Splits PyTorch's packed tensor into the rows of queries, keys and values. `first` is the slot of the queries. A tensor
 * of another size stays as it is, and is reported as superfluous.
 */
const splitPacked = (members: Members, slots: readonly Slot[], first: Slot): void => {
  const packedName = first.name.replace("query_proj_", "in_proj_");
  const [name, packed] = members.get(packedName) ?? [];
  if (!packed) return;
  const parts = projections.flatMap((one) => slots.find((slot) => slot.name === first.name.replace("query_proj_", one)) ?? []);
  const [, ...columns] = first.shape;
  const packedShape = [parts.reduce((sum, { shape }) => sum + shape[0]!, 0), ...columns];
  const fits = packed.shape ? `${packed.shape}` === `${packedShape}` : packed.length === product(packedShape);
  if (!fits) return;
  members.delete(packedName);
  let { begin } = packed;
  for (const { name: member, shape } of parts) {
    const length = product([shape[0]!, ...columns]);
    members.set(member, [name!, { ...packed, begin, shape: packed.shape && [shape[0]!, ...columns], length }]);
    begin += 4 * length;
  }
};

export const tensorFinder = (description: Description): FindTensors => {
  const slots = slotsOf(description);
  const memberOf = memberFinder(description);
  const { layout } = description;

  return (tensors, givenPrefix = "", isFile = false) => {
    const prefix = attempt("option", () => `${givenPrefix}`, "prefix").replace(/[^.]$/, "$&.");
    const members: Members = new Map();
    for (const [name, tensor] of tensors) {
      if (!name.startsWith(prefix)) continue;
      const rest = name.slice(prefix.length);
      members.set(memberOf(rest) ?? rest, [name, tensor]);
    }
    if (layout === "separate_qkv") {
      for (const slot of slots) if (slot.name.includes("query_proj_")) splitPacked(members, slots, slot);
    }
    const missing: string[] = [];
    const offsets: number[] = [];
    for (const slot of slots) {
      const [name, tensor] = members.get(slot.name) ?? [];
      members.delete(slot.name);
      if (tensor) offsets.push(...offsetsIn(slot, name!, tensor));
      else missing.push(prefix + slot.name);
    }
    const isOurs = (name: string): boolean => !isFile || memberOf(name.slice(prefix.length)) !== undefined;
    const others = [...members.values()].map(([name]) => name).filter((name) => missing.length || isOurs(name));
    if (missing.length || others.length) {
      fail("weights", `tensors of LAYOUT ${layout}`, missing.length ? missing : "no others", others);
    }
    return offsets;
  };
};
