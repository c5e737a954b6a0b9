// SPDX-License-Identifier: Apache-2.0
// The types of the members of the C function's options.
import { checkCount, checkNumber } from "./check.js";

/**
 * The largest "size" or "offset" that this package accepts. The limit of an option is smaller, but only the kernel
 * knows it.
 */
const largest = 2 ** 31 - 1;

/** For each type of number, a function that checks a value and returns the 32 bits that the C struct holds. */
export const numberTypes: Readonly<Record<string, (name: string, value: any) => number>> = {
  size: (name, value) => checkCount(name, value, largest),
  offset: (name, value) => checkCount(name, value, largest, -largest),
  number: (name, value) => new Int32Array(Float32Array.of(checkNumber(name, value)).buffer)[0]!,
};

/** For each type of array, the class of the JavaScript array that views the elements. */
export const arrayTypes: Readonly<
  Record<string, Uint8ArrayConstructor | Uint32ArrayConstructor | Float32ArrayConstructor>
> = { uint8: Uint8Array, uint32: Uint32Array, float32: Float32Array };
