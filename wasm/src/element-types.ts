// SPDX-License-Identifier: Apache-2.0
/** The type of the elements of a tensor of weights. */
export type WeightType = "float32" | "int8" | "int32";

/** The JavaScript array that holds a tensor of weights. */
export type WeightArray = Float32Array | Int8Array | Int32Array;

export const weightArrays: Readonly<
  Record<WeightType, Float32ArrayConstructor | Int8ArrayConstructor | Int32ArrayConstructor>
> = { float32: Float32Array, int8: Int8Array, int32: Int32Array };

export const isWeightType = (type: unknown): type is WeightType => Object.hasOwn(weightArrays, type as string);

/** Returns the number of bytes of one element. */
export const elementBytes = (type: WeightType): number => weightArrays[type].BYTES_PER_ELEMENT;
