import { fail, LadonError } from "./errors.js";
import type { Tensor, Tensors } from "./weights.js";

/** What the format's own reader accepts: it keeps a damaged length from costing gigabytes. */
const largestHeader = 1e8;

/** A file's tensors by name, and the bytes of its data. They lie one behind the other, without overlap or gap. */
const parseHeader = (text: Uint8Array): [Tensors, number] => {
  let header: Record<string, { dtype: string; shape: number[]; data_offsets: [number, number] }>;
  try {
    header = JSON.parse(new TextDecoder().decode(text));
  } catch (cause) {
    throw new LadonError("weights", "safetensors header", "JSON", "something else", cause);
  }
  const entries = Object.entries(header ?? 0).filter(([name]) => name !== "__metadata__");
  const tensors = new Map<string, Tensor>();
  for (const [name, value] of entries) {
    const { dtype, shape, data_offsets: offsets } = value ?? {};
    const sizes = [shape, offsets].flat() as unknown[];
    const [begin, end] = offsets ?? [];
    const length = (end! - begin!) / 4;
    const sound = sizes.every((n) => Number.isSafeInteger(n) && (n as number) >= 0) && offsets.length === 2;
    if (!sound || !Array.isArray(shape) || (dtype === "F32" && shape.reduce((a, b) => a * b, 1) !== length)) {
      fail("weights", `safetensors entry of ${name}`, "a dtype, a shape and their bytes", JSON.stringify(value));
    }
    tensors.set(name, { begin: begin!, length, shape, dtype });
  }
  let end = 0;
  for (const [name, { begin, length }] of [...tensors].sort(([, a], [, b]) => a.begin - b.begin || a.length - b.length)) {
    if (begin !== end || length < 0) fail("weights", `first byte of ${name}`, end, begin);
    end = begin + 4 * length;
  }
  return [tensors, end];
};

/**
 * Reads a safetensors file as it comes in. `place` gets the header's tensors and the bytes of data, and gives what takes
 * each piece of the data: the piece, and its place behind the data's begin.
 */
export const readSafetensors = async (
  next: () => Promise<Uint8Array | undefined>,
  place: (tensors: Tensors, bytes: number) => (piece: Uint8Array, at: number) => void,
  progress?: (bytes: number, total: number) => void,
): Promise<void> => {
  let rest: Uint8Array | undefined = new Uint8Array();
  let seen = 0;
  let total = 8;
  const read = async (count: number, put: (piece: Uint8Array, at: number) => void): Promise<void> => {
    for (let at = 0; at < count; ) {
      if (!rest!.length) rest = (await next()) ?? fail("weights", "safetensors bytes", total, seen);
      if (rest!.BYTES_PER_ELEMENT !== 1) fail("weights", "stream", "bytes", rest);
      const piece: Uint8Array = rest!.subarray(0, count - at);
      put(piece, at);
      at += piece.length;
      seen += piece.length;
      rest = rest!.subarray(piece.length);
    }
  };
  const collect = async (count: number): Promise<Uint8Array> => {
    const bytes = new Uint8Array(count);
    await read(count, (piece, at) => bytes.set(piece, at));
    return bytes;
  };
  const length = Number(new DataView((await collect(8)).buffer).getBigUint64(0, true));
  if (length > largestHeader) fail("weights", "safetensors header's bytes", `at most ${largestHeader}`, length);
  total += length;
  const [tensors, bytes] = parseHeader(await collect(length));
  total += bytes;
  const put = place(tensors, bytes);
  await read(bytes, (piece, at) => {
    put(piece, at);
    progress?.(seen + piece.length, total);
  });
  do {
    if (rest.length) fail("weights", "safetensors bytes", total, "more");
  } while ((rest = await next()));
};
