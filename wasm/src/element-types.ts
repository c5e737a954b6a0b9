// SPDX-License-Identifier: Apache-2.0
/** The type of the elements of a tensor of weights. */
export type WeightType = "float32" | "bfloat16" | "int8" | "int4" | "int32";

/** The types of the matrices that have a scale and a row sum for each row. */
export type IntegerType = "int8" | "int4";

export const isIntegerType = (type: string): type is IntegerType => type === "int8" || type === "int4";

/**
 * The JavaScript array that holds a tensor of weights. An element of a Uint16Array has the bits of a bfloat16. A
 * Uint8Array has the bytes of rows of int4 weights (ladon/detail/vec/int4.hpp).
 */
export type WeightArray = Float32Array | Uint16Array | Int8Array | Uint8Array | Int32Array;

export const weightArrays: Readonly<
  Record<
    WeightType,
    Float32ArrayConstructor | Uint16ArrayConstructor | Int8ArrayConstructor | Uint8ArrayConstructor | Int32ArrayConstructor
  >
> = { float32: Float32Array, bfloat16: Uint16Array, int8: Int8Array, int4: Uint8Array, int32: Int32Array };

export const isWeightType = (type: unknown): type is WeightType => Object.hasOwn(weightArrays, type as string);

/** Returns the number of bytes of one element. */
export const elementBytes = (type: WeightType): number => weightArrays[type].BYTES_PER_ELEMENT;

/** Rounds to the nearest bfloat16, ties to even, as ladon/bfloat16.hpp does. Returns the bits. */
export const bfloat16Of = (floats: Float32Array): Uint16Array => {
  const words = new Uint32Array(floats.buffer, floats.byteOffset, floats.length);
  return Uint16Array.from(words, (word, i) =>
    Number.isNaN(floats[i]) ? (word >>> 16) | 64 : (word + 0x7fff + ((word >>> 16) & 1)) >>> 16,
  );
};
