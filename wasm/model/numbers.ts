// Reads the numbers of an input from a text or a file: rows of numbers, JSON, or safetensors.
import { floatsOf } from "../src/narrow-floats.js";
import type { ModelInput } from "../src/model.js";
import { parseHeader } from "../src/safetensors-header.js";

/** Says how many numbers an input takes. */
export const shapeOf = ({ most, fixed, width }: ModelInput): string => {
  if (fixed) return `${most * width} numbers`;
  return width === 1 ? `1 to ${most} numbers` : `1 to ${most} rows of ${width} numbers`;
};

const numberIn = (value: unknown, row: number): number => {
  const number = typeof value === "string" && value ? Number(value) : value;
  if (typeof number === "number" && !Number.isNaN(number)) return number;
  throw new Error(`Row ${row + 1}: ${JSON.stringify(value)} is not a number`);
};

/** Returns the rows of a JSON value: its innermost arrays. An object has an array for each input. */
const rowsOfJson = (value: any, name: string): unknown[][] => {
  if (!Array.isArray(value)) {
    if (!Array.isArray(value?.[name])) throw new Error(`Expected an array of numbers, or an object with the array ${name}`);
    return rowsOfJson(value[name], name);
  }
  return value.some(Array.isArray) ? value.flatMap((row) => rowsOfJson(row, name)) : [value];
};

/** Returns the rows of a table with commas, semicolons or white space between the numbers. Skips a line of headings. */
const rowsOfTable = (text: string): string[][] => {
  const rows = text.split(/\r?\n/).filter((line) => line.trim()).map((line) => line.trim().split(/\s*[,;]\s*|\s+/));
  const isHeading = rows.length > 1 && rows[0]!.every((field) => Number.isNaN(Number(field)));
  return isHeading ? rows.slice(1) : rows;
};

/**
 * Throws unless each row has as many numbers as the model reads for a frame. Without this check, a table with other
 * columns whose count fits would give a wrong result. An input of fixed length may have its numbers in another order.
 */
const checkRows = (rows: readonly { readonly length: number }[], { fixed, width }: ModelInput): void => {
  if (fixed || width === 1 || rows.length === 1) return;
  const wrong = rows.findIndex(({ length }) => length !== width);
  if (wrong >= 0) throw new Error(`Row ${wrong + 1}: expected ${width} numbers, got ${rows[wrong]!.length}`);
};

export const numbersInText = (text: string, input: ModelInput): number[] => {
  const rows = /^\s*[[{]/.test(text) ? rowsOfJson(JSON.parse(text), input.name) : rowsOfTable(text);
  checkRows(rows, input);
  return rows.flatMap((row, i) => row.map((value) => numberIn(value, i)));
};

/** Reads the tensor with the name of the input, also behind "given.", or the only tensor of the file. */
const numbersInSafetensors = (bytes: ArrayBuffer, input: ModelInput): Float32Array => {
  const length = bytes.byteLength < 8 ? Infinity : Number(new DataView(bytes).getBigUint64(0, true));
  if (length > bytes.byteLength - 8) throw new Error("The file is not a safetensors file");
  const { tensors } = parseHeader(new Uint8Array(bytes, 8, length));
  const found = tensors.get(input.name) ?? tensors.get(`given.${input.name}`) ?? (tensors.size === 1 ? [...tensors.values()][0] : undefined);
  const floats = found && floatsOf[found.dtype];
  if (!floats || 8 + length + found.begin + found.bytes > bytes.byteLength) {
    throw new Error(`The file has no tensor ${input.name} of F32, F16 or BF16`);
  }
  const { shape = [] } = found;
  if (shape.length > 1) checkRows(new Array(2).fill({ length: shape.at(-1) }), input);
  return floats(new Uint8Array(bytes, 8 + length + found.begin, found.bytes));
};

export const numbersInFile = async (file: File, input: ModelInput): Promise<ArrayLike<number>> =>
  file.name.endsWith(".safetensors") ? numbersInSafetensors(await file.arrayBuffer(), input) : numbersInText(await file.text(), input);
