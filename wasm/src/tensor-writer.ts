// SPDX-License-Identifier: Apache-2.0
// Writes the tensors of a file into a block of weights, as the bytes of the file arrive.
import { bfloat16Of, elementBytes, type WeightType } from "./element-types.js";
import { floatsOf } from "./narrow-floats.js";
import type { FileTensor } from "./safetensors-header.js";
import type { WeightBlock } from "./weight-block.js";
import type { WeightPlan } from "./weight-plan.js";

/** Stores the next bytes of a tensor. `at` is the offset of these bytes in the tensor. */
export type PutBytes = (piece: Uint8Array, at: number) => void;

/**
 * Returns a function that collects bytes and calls `put` with units of `size` bytes. The last unit may be smaller.
 * `put` must not keep a unit, because all units use the same buffer.
 */
const inUnits = (size: number, total: number, put: (unit: Uint8Array, at: number) => void): PutBytes => {
  const unit = new Uint8Array(size);
  return (piece, at) => {
    for (let used = 0; used < piece.length;) {
      const begin = (at + used) % size;
      const part = piece.subarray(used, used + size - begin);
      unit.set(part, begin);
      used += part.length;
      const end = begin + part.length;
      if (end === size || at + used === total) put(unit.subarray(0, end), at + used - end);
    }
  };
};

/**
 * Returns a function that copies the bytes of a tensor to the offset `begin`. The memory grows only to twice the number
 * of bytes that have arrived. If it grew to the size in the file's header at once, a damaged header could make it grow
 * by gigabytes.
 */
const copy = (block: WeightBlock, { bytes: planned }: WeightPlan, begin: number): PutBytes => (piece, at) => {
  block.reach(Math.min(planned, 2 * (begin + at + piece.length)));
  block.write(begin + at, piece, Uint8Array);
};

/**
 * The number of bytes that are converted at once: a multiple of the size of an element, so that no element
 * is split.
 */
const convertedAtOnce = 4096;

/** Returns the function that stores the bytes of a tensor. */
export const tensorWriter = (block: WeightBlock, plan: WeightPlan, name: string, tensor: FileTensor): PutBytes => {
  const { begin, type } = plan.tensors.get(name)!;
  const { dtype, bytes, length } = tensor;
  const matrix = plan.matrices.get(name);
  const floats = floatsOf[dtype]!;
  if (matrix?.scale !== undefined) {
    const rowBytes = bytes / matrix.rows;
    return inUnits(rowBytes, bytes, (row, at) => {
      if (!at) block.reach(matrix.sums + 4 * matrix.rows); // up to the end of the row sums
      block.quantiseRow(name, at / rowBytes, floats(row));
    });
  }
  const isRounded = type === "bfloat16";
  if (type === tensor.type || (isRounded && dtype === "BF16")) return copy(block, plan, begin);
  const size = elementBytes(type as WeightType);
  return inUnits(convertedAtOnce, bytes, (unit, at) => {
    if (!at) block.reach(begin + size * length); // up to the end of the converted tensor
    const to = begin + ((at * length) / bytes) * size;
    if (isRounded) block.write(to, bfloat16Of(floats(unit)), Uint16Array);
    else block.write(to, floats(unit), Float32Array);
  });
};
