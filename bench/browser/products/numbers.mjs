// Makes the input and the weights of the chain of products that all contestants compute. The chain has 12 products.
// Products of 128 x 384 x 1536 and of 128 x 1536 x 384 alternate, and the result of a product is the input of the next
// product. These are the products in the feed-forward networks of MiniLM's six layers, without activations and biases.
import {numbers} from "../raw_kernel.mjs";

export const [tokens, model, hidden, length] = [128, 384, 1536, 12];

/** The flops of one product. All products have this number of flops. */
export const flopsOfProduct = 2 * tokens * model * hidden;

/**
 * Returns random int8 weights [rows][columns] with a scale for each row, and the same weights as float32 (each integer
 * times the scale of its row).
 */
function weightsOf(draw, rows, columns) {
  const floats = draw(rows * columns, 1 / Math.sqrt(columns));
  const weight = new Int8Array(rows * columns), scale = new Float32Array(rows), rowSum = new Int32Array(rows);
  for (let row = 0; row < rows; ++row) {
    const values = floats.subarray(row * columns, (row + 1) * columns);
    scale[row] = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127;
    values.forEach((value, i) => {
      const rounded = Math.round(value / scale[row]);
      weight[row * columns + i] = rounded;
      values[i] = rounded * scale[row];
      rowSum[row] += rounded;
    });
  }
  return {rows, columns, floats, weight, scale, rowSum};
}

/**
 * Returns {x, products}: the input [tokens][model], and the weights of each product. Every call returns equal numbers.
 */
export function makeChain() {
  const draw = numbers(20260201);
  const shapes = Array.from({length}, (_, i) => i % 2 === 0 ? [hidden, model] : [model, hidden]);
  return {x: draw(tokens * model, 1), products: shapes.map(([rows, columns]) => weightsOf(draw, rows, columns))};
}
