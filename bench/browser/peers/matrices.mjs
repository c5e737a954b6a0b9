// Matrices as the peers want them. Ladon reads weights as PyTorch stores them, (out, in); the peers (in, out).
export function transposed(matrix, rows, width) {
  const result = new matrix.constructor(matrix.length);
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < width; ++column) result[column * rows + row] = matrix[row * width + column];
  }
  return result;
}

/** Some columns of a matrix of that width. */
export function columns(matrix, width, first, count) {
  const rows = matrix.length / width, result = new Float32Array(rows * count);
  for (let row = 0; row < rows; ++row) {
    result.set(matrix.subarray(row * width + first, row * width + first + count), row * count);
  }
  return result;
}

/** What is added to scores: 0 where a query may see a key, -infinity elsewhere. */
export const causalMask = tokens =>
    Float32Array.from({length: tokens * tokens}, (_, i) => i % tokens > Math.floor(i / tokens) ? -Infinity : 0);
