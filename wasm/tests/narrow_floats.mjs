// Makes random floats of 16 bits for the tests, and computes their values.

/** Returns the bits of `count` random floats of `dtype`, F16 or BF16. Their magnitudes are in [1/16, 1). */
export const randomHalves = (random, count, dtype) =>
  Uint16Array.from({ length: count }, () => {
    const sign = random() < 0 ? 0x8000 : 0;
    const size = Math.abs(random());
    // The exponent of each float is from -4 to -1, and the fraction is arbitrary.
    if (dtype === "F16") return sign | ((11 + Math.floor(size * 4)) << 10) | Math.floor(Math.abs(random()) * 1024);
    return sign | ((123 + Math.floor(size * 4)) << 7) | Math.floor(Math.abs(random()) * 128);
  });

/** Returns the value of a 16-bit float, by the definition of its format (F16 or BF16). */
export const valueOfHalf = (half, dtype) => {
  const [bits, bias] = dtype === "F16" ? [10, 15] : [7, 127];
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half & 0x7fff) >> bits;
  const fraction = (half & (2 ** bits - 1)) / 2 ** bits;
  if (exponent === 2 * bias + 1) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction) * 2 ** (exponent - bias) : fraction * 2 ** (1 - bias));
};

export const valuesOf = (halves, dtype) => Float32Array.from(halves, (half) => valueOfHalf(half, dtype));
