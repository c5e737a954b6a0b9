// SPDX-License-Identifier: Apache-2.0
// Searches a file or a record for the tensors that a kernel reads.
import { product } from "./check.js";
import type { Slot } from "./description.js";
import { elementBytes, isIntegerType, type WeightType } from "./element-types.js";
import { fail } from "./fail.js";

/** A tensor among the stored weights. */
export interface StoredTensor {
  /** The offset of the tensor in bytes. The offset of the first stored tensor is 0. */
  readonly begin: number;
  /** A WeightType if the kernel reads the tensor. Otherwise, the dtype of the tensor in the file, such as "F64". */
  readonly type: string;
  /** The number of elements. */
  readonly length: number;
  /** The shape, or undefined for an array that the caller passed to `Weights.set`: only its length is known. */
  readonly shape?: readonly number[];
  /** Converts the bytes of an F16 or BF16 tensor to float32. Undefined for other types. */
  readonly widen?: (bytes: Uint8Array) => Float32Array;
}

/**
 * The tensors that the kernel reads. A key is a member of the C struct of weights. The value is [name, tensor], where
 * `name` is the name of the tensor in the record or file.
 */
export type Members = Map<string, readonly [name: string, tensor: StoredTensor]>;

const projections = ["query_proj_", "key_proj_", "value_proj_"] as const;

/** PyTorch's in_proj_weight or in_proj_bias: the rows of the query, key and value projections, one after another. */
export interface Packed {
  readonly member: string;
  readonly type: WeightType;
  readonly shape: readonly number[];
  readonly inputs?: number;
  readonly parts: readonly Slot[];
}

/**
 * Returns the tensors in_proj_weight and in_proj_bias, each of which can replace three tensors of a kernel with LAYOUT
 * separate_qkv.
 */
export const packedOf = (slots: readonly Slot[]): Packed[] =>
  slots
    .filter(({ name }) => name.includes("query_proj_"))
    .map(({ name, type, inputs, shape: [, ...columns] }) => {
      const names = projections.map((one) => name.replace("query_proj_", one));
      const parts = names.flatMap((one) => slots.find((slot) => slot.name === one) ?? []);
      const rows = parts.reduce((sum, { shape }) => sum + shape[0]!, 0);
      return { member: name.replace("query_proj_", "in_proj_"), type, inputs, shape: [rows, ...columns], parts };
    });

/**
 * Throws unless `tensor` has the type and the shape that the kernel needs. The C struct can have several pointers to
 * one tensor, such as one for each head. Returns the offset for each of these pointers.
 */
const offsetsIn = ({ type, shape, pointers }: Slot, name: string, tensor: StoredTensor): number[] => {
  if (type !== tensor.type) {
    const needed = `${type} (${tensor.type} weights need a kernel with PRECISION ${tensor.type})`;
    const expected = isIntegerType(tensor.type) ? needed : type;
    fail("weights", `type of ${name}`, expected, tensor.type);
  }
  const length = product(shape);
  const [expected, actual] = tensor.shape ? [shape, tensor.shape] : [length, tensor.length];
  if (`${expected}` !== `${actual}`) fail("shape", `shape of ${name}`, expected, actual);
  const bytes = (length / pointers) * elementBytes(type);
  return Array.from({ length: pointers }, (_, i) => tensor.begin + i * bytes);
};

/**
 * If `members` has PyTorch's packed tensor (the projections of queries, keys and values in one), replaces it by its
 * three parts. A packed tensor with another shape than `shape` stays in `members`, and findTensors returns its name in
 * `others`. If only the length of the packed tensor is known, only its length is compared.
 */
const split = (members: Members, { member, type, shape, parts }: Packed): void => {
  const [name, packed] = members.get(member) ?? [];
  if (!packed) return;
  const fits = packed.shape ? `${packed.shape}` === `${shape}` : packed.length === product(shape);
  if (!fits) return;
  members.delete(member);
  let { begin } = packed;
  for (const part of parts) {
    const partShape = [part.shape[0]!, ...shape.slice(1)];
    const length = product(partShape);
    members.set(part.name, [name!, { ...packed, begin, shape: packed.shape && partShape, length }]);
    begin += elementBytes(type) * length;
  }
};

/** The result of findTensors. */
export interface Found {
  /**
   * One entry for each pointer in the C struct of weights: the offset of the pointer's data in bytes, counted from the
   * first tensor. NaN stands for a null pointer.
   */
  readonly offsets: number[];
  /**
   * The members of the C struct for which no tensor was found. If an int8 or int4 matrix is missing, only the matrix is listed,
   * without its scales and row sums.
   */
  readonly missing: string[];
  /** The names of the tensors that the kernel does not read. */
  readonly others: readonly string[];
}

/**
 * Finds a tensor for each member of the C struct of weights. Throws "shape" or "weights" if a tensor has the wrong
 * shape or type for its member.
 */
export const findTensors = (slots: readonly Slot[], packed: readonly Packed[], members: Members): Found => {
  for (const one of packed) split(members, one);
  const missing = new Set<string>();
  const offsets: number[] = [];
  for (const slot of slots) {
    const [name, tensor] = members.get(slot.name) ?? [];
    members.delete(slot.name);
    if (tensor) offsets.push(...offsetsIn(slot, name!, tensor));
    else if (slot.optional) offsets.push(NaN);
    else if (!missing.has(slot.name.replace(/_(scale|row_sum)$/, ""))) missing.add(slot.name);
  }
  return { offsets, missing: [...missing], others: [...members.values()].map(([name]) => name) };
};
