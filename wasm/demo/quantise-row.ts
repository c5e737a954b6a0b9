const smallestNormal = 2 ** -126;
/**
 * A constant that rounds a float x: x + roundingOffset - roundingOffset is the nearest integer to x, ties to even. All
 * floats from 2^23 to 2^24 are integers. The magnitude of x must be below 2^22.
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
 * Quantises a row to integers from -127 to 127. Writes the integers nearest to weights / scale into `to`, and returns
 * the scale, which is the largest magnitude / 127. Returns NaN if a weight is infinite or NaN. The results are
 * bit-identical to those of `quantise` in the C++ library (ladon/quantise.hpp).
 */
export function quantiseRow(weights: Float32Array, to: Int8Array): number {
  const exact = Math.fround(largestMagnitude(weights) / 127);
  const scale = exact < smallestNormal ? 1 : exact;
  for (let i = 0; i < weights.length; ++i) {
    to[i] = Math.fround(Math.fround(weights[i]! / scale) + roundingOffset) - roundingOffset;
  }
  return scale;
}
