// SPDX-License-Identifier: Apache-2.0
// Holds the weights of an instance in the module's memory: a C struct of pointers, and behind it the tensors.
import type { Description } from "./description.js";
import { isWeightType, type WeightArray, type WeightType, weightArrays } from "./element-types.js";
import { fail } from "./fail.js";
import type { Block, ModuleMemory, NumberArray } from "./memory.js";
import type { WeightPlan } from "./weight-plan.js";

/** Returns the size of the C struct of pointers, rounded up to a multiple of 64 bytes. The first tensor follows. */
const pointerBytes = ({ offsets }: WeightPlan): number => Math.ceil(offsets.length / 16) * 64;

export class WeightBlock {
  readonly #memory: ModuleMemory;
  readonly #plan: WeightPlan;
  readonly #block: Block;
  /** A buffer in the module's memory for one row of floats. The kernel's C function quantises this row. */
  #row: Block | undefined;
  /** The float32 copies of F16 and BF16 tensors that `tensor` has made so far, by name. */
  readonly #widened = new Map<string, Float32Array>();

  /** Of ROTATED kernels, scales are negative. An int4 kernel also takes scales of 0, for rows of zeros. */
  readonly #kernel: Pick<Description, "rotated" | "precision">;

  /**
   * Reserves addresses for the weights, but does not grow the memory. The caller must call `reach` before it writes
   * bytes of a tensor.
   */
  constructor(memory: ModuleMemory, plan: WeightPlan, kernel: Pick<Description, "rotated" | "precision">) {
    this.#memory = memory;
    this.#kernel = kernel;
    this.#plan = plan;
    const columns = [...plan.matrices.values()].map((one) => (one.scale === undefined ? 0 : one.columns));
    // `#row` must lie in front of `#block`. `allocate` grows the memory up to the end of `#row`. If `#block` were in
    // front of `#row`, the memory would grow over all of `#block` before weights arrive.
    this.#row = memory.allocate(4 * Math.max(0, ...columns));
    this.#block = memory.reserve(pointerBytes(plan) + plan.bytes);
  }

  /** The address of the C struct of pointers to the weights. */
  get at(): number {
    return this.#block.at;
  }

  get #tensorsAt(): number {
    return this.#block.at + pointerBytes(this.#plan);
  }

  /** Makes the first `bytes` bytes of the tensors usable. If the memory grows, views of the memory become empty. */
  reach(bytes: number): void {
    this.#memory.reach(this.#tensorsAt + bytes);
  }

  /** Writes numbers at an offset in bytes from the first tensor. */
  write(offset: number, values: ArrayLike<number>, Type: NumberArray): void {
    this.#memory.write(this.#tensorsAt + offset, values, Type);
  }

  /** Quantises a row of a matrix that was given as floats. Throws "weights" if a weight is infinite or NaN. */
  quantiseRow(name: string, row: number, weights: Float32Array): void {
    const { columns, rowBytes, weight, scale, sums } = this.#plan.matrices.get(name)!;
    const rowAt = this.#row!.at;
    const first = this.#tensorsAt;
    this.#memory.write(rowAt, weights);
    const [weightAt, scaleAt, sumAt] = [first + weight + row * rowBytes, first + scale! + 4 * row, first + sums + 4 * row];
    const status = this.#memory.call("quantise_rows", rowAt, 1, columns, weightAt, scaleAt, sumAt);
    if (status) fail("weights", `row ${row} of ${name}`, "finite weights", "an infinity or NaN");
  }

  /**
   * Completes the weights after all tensors were written. Computes the row sums of matrices that were integers already, and
   * writes the pointers. Throws "weights" if a scale is 0 (except of int4 weights), infinite or NaN, or has the wrong sign: scales of rotated
   * weights must be negative, and all other scales positive.
   */
  finish(): void {
    const first = this.#tensorsAt;
    this.reach(this.#plan.bytes);
    this.#plan.scales.forEach((name) => this.#checkScales(name));
    for (const { rows, columns, weight, scale, sums } of this.#plan.matrices.values()) {
      if (scale === undefined) this.#memory.call("sum_rows", first + weight, rows, columns, first + sums);
    }
    // An offset of NaN becomes the pointer 0.
    const pointers = this.#plan.offsets.map((offset) => first + offset);
    this.#memory.write(this.#block.at, pointers, Uint32Array);
    this.#releaseRow();
  }

  release(): void {
    this.#releaseRow();
    this.#memory.release(this.#block);
  }

  /** Returns a view of a tensor. For a tensor of F16 or BF16, returns a copy that is converted to float32. */
  tensor(name: string, type?: WeightType): WeightArray {
    const { tensors } = this.#plan;
    const { type: stored, begin, length, widen } = tensors.get(name) ?? fail("weights", "tensor", [...tensors.keys()], name);
    const actual = widen ? "float32" : stored;
    if (!isWeightType(actual) || (type !== undefined && type !== actual)) {
      return fail("weights", `type of ${name}`, type ?? [...Object.keys(weightArrays), "F16", "BF16"], actual);
    }
    const { buffer } = this.#memory.exports.memory;
    if (!widen) return new weightArrays[actual](buffer, this.#tensorsAt + begin, length);
    const copy = this.#widened.get(name) ?? widen(new Uint8Array(buffer, this.#tensorsAt + begin, 2 * length));
    this.#widened.set(name, copy);
    return copy;
  }

  #checkScales(name: string): void {
    const scales = this.tensor(name, "float32");
    const { rotated, precision } = this.#kernel;
    const sign = rotated ? -1 : 1;
    const isScale = (scale: number): boolean => (sign * scale > 0 && sign * scale < Infinity) || (scale === 0 && precision === "int4");
    const row = scales.findIndex((scale) => !isScale(scale));
    const expected = rotated ? "a negative number, as of rotated weights" : "a positive number";
    if (row >= 0) fail("weights", `${name} of row ${row}`, expected, scales[row]);
  }

  #releaseRow(): void {
    this.#memory.release(this.#row);
    this.#row = undefined;
  }
}
