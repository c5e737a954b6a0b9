// Converts a float32 checkpoint to int8, as `ladon-weights quantise IN OUT --embeddings` does.
import { headerOf, safetensors } from "./safetensors.mjs";

/** Quantises a matrix: one scale for each row, integers from -127 to 127, ties to even. */
const quantise = (floats, rows) => {
  const columns = floats.length / rows;
  const integers = new Int8Array(floats.length);
  const scales = new Float32Array(rows);
  for (let r = 0; r < rows; ++r) {
    const end = (r + 1) * columns;
    let largest = 0;
    for (let i = r * columns; i < end; ++i) largest = Math.max(largest, Math.abs(floats[i]));
    const scale = Math.fround(largest / 127);
    scales[r] = scale < 2 ** -126 ? 1 : scale;
    for (let i = r * columns; i < end; ++i) {
      const quotient = Math.fround(floats[i] / scales[r]);
      const below = Math.floor(quotient);
      integers[i] = quotient - below === 0.5 ? below + (below & 1) : Math.round(quotient);
    }
  }
  return { integers, scales };
};

/** Returns the int8 file. The matrices are the tensors of two dimensions whose names end in ".weight". */
export const int8Checkpoint = (file) => {
  const { header, data } = headerOf(new Uint8Array(file)); // slice() of a Buffer would return a view
  const sizes = { F32: 4, I64: 8, I8: 1 };
  const tensors = Object.entries(header)
    .filter(([name]) => name !== "__metadata__")
    .flatMap(([name, { dtype, shape, data_offsets: [begin, end] }]) => {
      const bytes = data.slice(begin, end);
      if (dtype !== "F32" || shape.length !== 2 || !name.endsWith(".weight")) return [[name, shape, bytes, dtype]];
      const { integers, scales } = quantise(new Float32Array(bytes.buffer), shape[0]);
      return [
        [name, shape, integers, "I8"],
        [`${name}_scale`, [shape[0], 1], scales, "F32"],
      ];
    });
  const inOrder = tensors.sort(([a, , , x], [b, , , y]) => sizes[y] - sizes[x] || (a < b ? -1 : 1));
  return safetensors(inOrder);
};
