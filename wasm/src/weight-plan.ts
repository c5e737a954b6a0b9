// SPDX-License-Identifier: Apache-2.0
// Plans the place and the type of each tensor in the memory of an instance.
import { type Description, type Slot, slotsOf } from "./description.js";
import { elementBytes, isIntegerType, type WeightType } from "./element-types.js";
import { product } from "./check.js";
import { attempt, fail } from "./fail.js";
import { findTensors, type Members, packedOf, type StoredTensor } from "./find-tensors.js";
import { memberFinder, type MemberOf } from "./tensor-names.js";

/** A tensor of the record that `Weights.set` gets, or of the file that `Weights.load` reads. */
export interface GivenTensor extends Omit<StoredTensor, "begin"> {
  readonly bytes: number;
}

/**
 * An int8 or int4 matrix among the weights. The offsets of its weights, of its row scales (`scale`) and of its row sums
 * (`sums`) are in bytes from the first tensor.
 */
export interface IntegerMatrix {
  readonly rows: number;
  readonly columns: number;
  readonly rowBytes: number;
  readonly weight: number;
  /** Undefined if the given weights are integers already. Their scales are then a separate tensor of the record or file. */
  readonly scale?: number;
  readonly sums: number;
}

export interface WeightPlan {
  /** The stored tensors by name. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /** The bytes of all stored tensors, with the gaps that align the tensors. */
  readonly bytes: number;
  /** Maps the name of a stored tensor to the int8 or int4 matrix that it becomes or already is. */
  readonly matrices: ReadonlyMap<string, IntegerMatrix>;
  /**
   * One entry for each pointer in the C struct of weights: the offset of the pointer's data in bytes, counted from the
   * first tensor. NaN stands for a null pointer.
   */
  readonly offsets: readonly number[];
  /** The names of the stored tensors that are the scales of these matrices. */
  readonly scales: readonly string[];
}

/** A matrix that the kernel reads. `shape` has the bytes of a row of int4 weights, and `inputs` the number of its weights. */
type Matrix = Pick<Slot, "type" | "shape" | "inputs">;

/** Tensors of these dtypes become float32 or bfloat16 if the kernel reads them. Otherwise, they are stored unchanged. */
const narrowFloats = ["F16", "BF16"];

/** Places tensors one after another, each at a multiple of 64 bytes. */
class Block {
  readonly tensors = new Map<string, StoredTensor>();
  bytes = 0;

  /** Finds a place for the tensor, and returns its offset. */
  add(name: string, { bytes, ...tensor }: GivenTensor): number {
    if (this.tensors.has(name)) fail("weights", name, "no such tensor, because the binding makes it", "one");
    const begin = Math.ceil(this.bytes / 64) * 64;
    this.tensors.set(name, { ...tensor, begin });
    this.bytes = begin + bytes;
    return begin;
  }
}

/**
 * Finds places for an int8 or int4 matrix: for the weights, the row sums, and the scales if the weights are given as
 * floats. Throws "shape" or "weights" if `given` has the wrong shape or type.
 */
const addMatrix = (to: Block, name: string, given: GivenTensor, { type, shape, inputs }: Matrix): IntegerMatrix => {
  const [rows, rowBytes] = shape as [number, number];
  const columns = inputs ?? rowBytes;
  const isInteger = given.type === type;
  const wanted = isInteger ? shape : [rows, columns];
  const [expected, actual] = given.shape ? [wanted, given.shape] : [product(wanted), given.length];
  if (`${expected}` !== `${actual}`) fail("shape", `shape of ${name}`, expected, actual);
  if (!isInteger && !["float32", ...narrowFloats].includes(given.type)) {
    fail("weights", `type of ${name}`, `${type}, float32, ${narrowFloats.join(", ")}`, given.type);
  }
  const ofRows = { bytes: 4 * rows, length: rows, shape: [rows] };
  const length = rows * rowBytes;
  const weight = to.add(name, { type, bytes: length, length, shape });
  const scale = isInteger ? undefined : to.add(`${name}_scale`, { type: "float32", ...ofRows });
  const sums = to.add(`${name}_row_sum`, { type: "int32", ...ofRows });
  return { rows, columns, rowBytes, weight, scale, sums };
};

const isScale = (member?: string): boolean => member?.endsWith("_weight_scale") ?? false;

/**
 * Places a tensor that is not such a matrix. The shape [rows, 1] of scales becomes [rows]. `floats` is the type of the
 * kernel's tensor.
 */
const addOther = (to: Block, name: string, given: GivenTensor, floats: WeightType, member?: string): void => {
  const { length } = given;
  const isColumn = isScale(member) && given.shape?.length === 2 && given.shape[1] === 1;
  const shape = isColumn ? given.shape!.slice(0, 1) : given.shape;
  const isConverted = member !== undefined && (narrowFloats.includes(given.type) || given.type === "float32");
  to.add(name, isConverted ? { type: floats, bytes: elementBytes(floats) * length, length, shape } : { ...given, shape });
};

/**
 * Plans how the `given` tensors are stored. The kernel reads only tensors whose names begin with `prefix`. Tensors with
 * other names are stored, too. Cases of a tensor with the prefix:
 * - The kernel reads it. All such tensors must be present.
 * - The kernel does not read it, but other kernels of this kind do: for example, a tensor of a further layer, or a
 *   bias. It is not allowed.
 * - No kernel of this kind reads it: for example, a table of embeddings. It is allowed in a file, but not in a record.
 * For a file, `causeOf` explains why no tensor of the kernel was found, or returns "".
 * Throws "weights" if a tensor is missing or not allowed. Throws "shape" or "weights" if a tensor has another shape or
 * type than the kernel reads.
 */
export type PlanWeights = (
  given: ReadonlyMap<string, GivenTensor>,
  prefix?: string,
  causeOf?: (names: Iterable<string>, memberOf: MemberOf) => string,
) => WeightPlan;

/**
 * Throws "weights" if a file has integers for some matrices of the kernel and floats for others. Without this check, the
 * binding would silently quantise the matrices of floats.
 */
const checkMixture = (matrices: ReadonlyMap<string, IntegerMatrix>, type: string): void => {
  const names = [...matrices.keys()];
  const isFloat = (name: string): boolean => matrices.get(name)!.scale !== undefined;
  const float = names.find(isFloat);
  const integer = names.find((name) => !isFloat(name));
  if (float !== undefined && integer !== undefined) fail("weights", `type of ${float}`, `${type}, as of ${integer}`, "floats");
};

export const weightPlanner = (description: Description): PlanWeights => {
  const slots = slotsOf(description);
  const { layout, precision } = description;
  const packed = layout === "separate_qkv" ? packedOf(slots) : [];
  const all = new Map<string, Matrix>(slots.map((slot) => [slot.name, slot]));
  for (const one of packed) all.set(one.member, one);
  const memberOf = memberFinder(description);

  return (given, givenPrefix = "", causeOf) => {
    const isFile = causeOf !== undefined;
    const prefix = attempt("option", () => `${givenPrefix}`, "prefix").replace(/[^.]$/, "$&.");
    const memberOfName = (name: string): string | undefined =>
      name.startsWith(prefix) ? memberOf(name.slice(prefix.length)) : undefined;
    const block = new Block();
    const matrices = new Map<string, IntegerMatrix>();
    for (const [name, tensor] of given) {
      const member = memberOfName(name);
      const slot = all.get(member ?? "");
      if (slot && isIntegerType(slot.type)) matrices.set(name, addMatrix(block, name, tensor, slot));
      else addOther(block, name, tensor, slot?.type === "bfloat16" ? "bfloat16" : "float32", member);
    }
    if (isFile) checkMixture(matrices, precision);
    const members: Members = new Map();
    for (const [name, tensor] of block.tensors) {
      if (name.startsWith(prefix)) members.set(memberOfName(name) ?? name.slice(prefix.length), [name, tensor]);
    }
    const { offsets, missing, others } = findTensors(slots, packed, members);
    const isOurs = (name: string): boolean => !isFile || memberOfName(name) !== undefined;
    const superfluous = others.filter((name) => missing.length || isOurs(name));
    const cause = offsets.every(Number.isNaN) && causeOf?.(given.keys(), memberOf);
    if (cause) fail("weights", `no tensor below the prefix "${prefix}" is one of this kernel; ${cause}`);
    if (missing.length || superfluous.length) {
      const expected = missing.length ? missing.map((name) => prefix + name) : "no others";
      fail("weights", `tensors of LAYOUT ${layout}`, expected, superfluous);
    }
    const scales = [...block.tensors.keys()].filter((name) => isScale(memberOfName(name)));
    return { tensors: block.tensors, bytes: block.bytes, matrices, offsets, scales };
  };
};
