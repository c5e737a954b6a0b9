// Reads the header of a safetensors file, and makes the int8 file from a file of floats.
import { floatsOf } from "../src/narrow-floats.js";
import { type FileTensor, parseHeader } from "../src/safetensors-header.js";
import { quantiseRow } from "./quantise-row.js";

/** A safetensors file whose header was read. */
export interface WeightFile {
  readonly content: Blob;
  /** The tensors by name, in the order of their bytes. */
  readonly tensors: ReadonlyMap<string, FileTensor>;
  /** The offset of the first byte after the header. */
  readonly dataBegin: number;
  readonly metadata: unknown;
}

/** Called while a file is read, with the number of bytes that were read and the size of the file in bytes. */
export type Progress = (bytes: number, total: number) => void;

const lengthBytes = 8;
const bytesAtOnce = 1 << 20;

/** Reads the header. Throws if the content is not a safetensors file, or has too few or too many bytes. */
export async function openWeightFile(content: Blob): Promise<WeightFile> {
  if (content.size < lengthBytes) throw new Error(`the weights have ${content.size} bytes and no safetensors header`);
  const length = new DataView(await content.slice(0, lengthBytes).arrayBuffer()).getBigUint64(0, true);
  const dataBegin = lengthBytes + Number(length);
  if (dataBegin > content.size) throw new Error("the weights are not a safetensors file, or the file is cut off");
  const text = new Uint8Array(await content.slice(lengthBytes, dataBegin).arrayBuffer());
  const { tensors, bytes } = parseHeader(text);
  const expected = dataBegin + bytes;
  if (expected !== content.size) throw new Error(`the weights must have ${expected} bytes, but have ${content.size}`);
  const { __metadata__: metadata } = JSON.parse(new TextDecoder().decode(text));
  return { content, tensors, dataBegin, metadata };
}

/** Returns true if some weights of the file are int8 already. */
export const hasInt8 = ({ tensors }: WeightFile): boolean => [...tensors.values()].some(({ type }) => type === "int8");

/**
 * Returns true if `name` is a matrix of floats, which becomes int8 in the int8 file. `ladon-weights` has the same rule.
 */
const isFloatMatrix = (name: string, { shape, length, dtype }: FileTensor): boolean =>
  shape?.length === 2 && length > 0 && Object.hasOwn(floatsOf, dtype) && /(^|\.|_proj_)weight$/.test(name);

/** A tensor in the int8 file that the page makes. */
interface MadeTensor {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly bytes: number;
  readonly elementBytes: number;
}

function madeTensors(name: string, tensor: FileTensor): MadeTensor[] {
  const { dtype, bytes, length } = tensor;
  const shape = tensor.shape!;
  if (!isFloatMatrix(name, tensor)) return [{ name, dtype, shape, bytes, elementBytes: bytes / length || 1 }];
  const rows = shape[0]!;
  return [
    { name, dtype: "I8", shape, bytes: length, elementBytes: 1 },
    { name: `${name}_scale`, dtype: "F32", shape: [rows, 1], bytes: 4 * rows, elementBytes: 4 },
  ];
}

const inFileOrder = (a: MadeTensor, b: MadeTensor) => b.elementBytes - a.elementBytes || (a.name < b.name ? -1 : 1);

/**
 * The int8 file while it is made. `file` has room for all bytes, but so far only the header is written. `places` has
 * the offset of each tensor in the file.
 */
interface Layout {
  readonly file: Uint8Array<ArrayBuffer>;
  readonly places: ReadonlyMap<string, number>;
}

function layOut(tensors: readonly MadeTensor[], metadata: unknown): Layout {
  const offsets = new Map<string, number>();
  const header: Record<string, unknown> = metadata === undefined ? {} : { __metadata__: metadata };
  let end = 0;
  for (const { name, dtype, shape, bytes } of tensors) {
    if (offsets.has(name)) throw new Error(`the weights have a tensor ${name}, which the int8 file needs for scales`);
    offsets.set(name, end);
    header[name] = { dtype, shape, data_offsets: [end, (end += bytes)] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const headerBytes = Math.ceil(text.length / lengthBytes) * lengthBytes;
  const dataBegin = lengthBytes + headerBytes;
  const file = new Uint8Array(dataBegin + end);
  new DataView(file.buffer).setBigUint64(0, BigInt(headerBytes), true);
  file.fill(0x20, lengthBytes, dataBegin).set(text, lengthBytes);
  return { file, places: new Map([...offsets].map(([name, offset]) => [name, dataBegin + offset])) };
}

/**
 * Quantises some rows of the matrix `name`, and writes the integers and the scale of each row into layout.file.
 * `floats` has the rows from row `firstRow` on.
 */
function writeRows(layout: Layout, name: string, floats: Float32Array, columns: number, firstRow: number): void {
  const { file, places } = layout;
  const rows = floats.length / columns;
  const scales = new Float32Array(rows);
  for (let r = 0; r < rows; ++r) {
    const integers = new Int8Array(file.buffer, places.get(name)! + (firstRow + r) * columns, columns);
    scales[r] = quantiseRow(floats.subarray(r * columns, (r + 1) * columns), integers);
    if (Number.isNaN(scales[r])) throw new Error(`row ${firstRow + r} of ${name} has an infinite weight or a NaN`);
  }
  file.set(new Uint8Array(scales.buffer), places.get(`${name}_scale`)! + 4 * firstRow);
}

/**
 * Copies a tensor of the float file into the int8 file, in pieces of `pieceBytes` bytes. The last piece may be smaller.
 * A matrix of floats becomes int8, and its pieces are whole rows. Other tensors are copied unchanged.
 */
interface PieceWriter {
  readonly pieceBytes: number;
  /**
   * Writes one piece of the tensor. `at` is the number of bytes of the tensor before this piece, counted in the float
   * file.
   */
  put(piece: Uint8Array, at: number): void;
}

function pieceWriter(layout: Layout, name: string, tensor: FileTensor): PieceWriter {
  if (!isFloatMatrix(name, tensor)) {
    return { pieceBytes: bytesAtOnce, put: (piece, at) => layout.file.set(piece, layout.places.get(name)! + at) };
  }
  const [rows, columns] = tensor.shape as [number, number];
  const rowBytes = tensor.bytes / rows;
  const floats = floatsOf[tensor.dtype]!;
  return {
    pieceBytes: Math.max(1, Math.floor(bytesAtOnce / rowBytes)) * rowBytes,
    put: (piece, at) => writeRows(layout, name, floats(piece), columns, at / rowBytes),
  };
}

/**
 * Makes the file that `ladon-weights quantise IN OUT --embeddings` makes: each matrix of floats becomes int8 weights
 * with a scale for each row. If `source` has no matrix of floats, returns its content unchanged.
 */
export async function int8File(source: WeightFile, progress: Progress, signal: AbortSignal): Promise<Blob> {
  const { content, tensors, dataBegin, metadata } = source;
  if (![...tensors].some(([name, tensor]) => isFloatMatrix(name, tensor))) return content;
  const made = [...tensors].flatMap(([name, tensor]) => madeTensors(name, tensor));
  const layout = layOut(made.sort(inFileOrder), metadata);
  for (const [name, tensor] of tensors) {
    const { pieceBytes, put } = pieceWriter(layout, name, tensor);
    const first = dataBegin + tensor.begin;
    for (let at = 0; at < tensor.bytes; at += pieceBytes) {
      const end = first + Math.min(at + pieceBytes, tensor.bytes);
      const piece = new Uint8Array(await content.slice(first + at, end).arrayBuffer());
      signal.throwIfAborted();
      put(piece, at);
      progress(end, content.size);
    }
  }
  return new Blob([layout.file]);
}
