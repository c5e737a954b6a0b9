// SPDX-License-Identifier: Apache-2.0
// Converts floats of 16 bits to float32.

const widenBfloat16 = (half: number): number => half << 16;

/**
 * Converts the bits of a 16-bit float (binary16) to the bits of the float32 (binary32) with the same value. binary16
 * has 5 exponent bits with bias 15, and 10 fraction bits. binary32 has 8 exponent bits with bias 127, and 23 fraction
 * bits.
 */
const widenFloat16 = (half: number): number => {
  const [sign, exponent, fraction] = [(half & 0x8000) << 16, (half >> 10) & 31, half & 1023];
  if (exponent === 31) return sign | 0x7f800000 | (fraction << 13);
  if (exponent) return sign | ((exponent + 112) << 23) | (fraction << 13);
  if (!fraction) return sign;
  // The value is fraction * 2^-24. It is subnormal in binary16, but normal in binary32.
  const shift = Math.clz32(fraction) - 21;
  return sign | ((113 - shift) << 23) | (((fraction << shift) & 1023) << 13);
};

const widened = (bytes: Uint8Array, widen: (half: number) => number): Float32Array => {
  const halves = new Uint16Array(bytes.slice().buffer);
  const words = new Int32Array(halves.length);
  for (let i = 0; i < words.length; ++i) words[i] = widen(halves[i]!);
  return new Float32Array(words.buffer);
};

/** Converts the little-endian floats of a safetensors dtype to float32. The conversion is exact. */
export const floatsOf: Readonly<Record<string, (bytes: Uint8Array) => Float32Array>> = {
  F32: (bytes) => new Float32Array(bytes.slice().buffer),
  F16: (bytes) => widened(bytes, widenFloat16),
  BF16: (bytes) => widened(bytes, widenBfloat16),
};
