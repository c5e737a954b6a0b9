const smallestNormal = 2 ** -126;
/**
 * A constant that rounds a float x: `x + roundingOffset - roundingOffset` is the nearest integer to x, ties to even.
 * The magnitude of x must be below 2^22. The sum is then between 2^23 and 2^24, where all floats are integers.
 */
const roundingOffset = 1.5 * 2 ** 23;

/** Returns the largest magnitude, or NaN if a value is infinite or NaN. */
function largestMagnitude(values: Float32Array): number {
  let largest = 0;
  for (let i = 0; i < values.length; ++i) {
    const magnitude = Math.abs(values[i]!);
    if (!(magnitude < Infinity)) return NaN;
    if (largest < magnitude) largest = magnitude;
  }
  return largest;
}

/**
 * Quantises a row to integers from -127 to 127. The scale is the largest magnitude divided by 127, or 1 if the quotient
 * is subnormal or 0. Writes the integer nearest to each `weight / scale` into `to`. Returns the scale, or NaN if a
 * weight is infinite or NaN. The results are bit-identical to those of `quantise` in the C++ library
 * (ladon/quantise.hpp).
 */
export function quantiseRow(weights: Float32Array, to: Int8Array): number {
  const exact = Math.fround(largestMagnitude(weights) / 127);
  const scale = exact < smallestNormal ? 1 : exact;
  for (let i = 0; i < weights.length; ++i) {
    to[i] = Math.fround(Math.fround(weights[i]! / scale) + roundingOffset) - roundingOffset;
  }
  return scale;
}
