// Converts matrices for the packages that Ladon is compared with. Ladon reads weights in PyTorch's order (out, in), but
// these packages read (in, out).
export function transposed(matrix, rows, width) {
  const result = new matrix.constructor(matrix.length);
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < width; ++column) result[column * rows + row] = matrix[row * width + column];
  }
  return result;
}

/** Returns `count` columns of a matrix, beginning at column `first`. `width` is the number of columns of the matrix. */
export function columns(matrix, width, first, count) {
  const rows = matrix.length / width, result = new Float32Array(rows * count);
  for (let row = 0; row < rows; ++row) {
    result.set(matrix.subarray(row * width + first, row * width + first + count), row * count);
  }
  return result;
}

/** Returns the numbers that a causal mask adds to scores: 0 if a query may see a key, and -infinity otherwise. */
export const causalMask = tokens =>
    Float32Array.from({length: tokens * tokens}, (_, i) => i % tokens > Math.floor(i / tokens) ? -Infinity : 0);
