// Copies the arrays of a run into a module's memory: context, data of masks, slopes and sinks.
import { checkLength, product } from "./check.js";
import type { Description, Option } from "./description.js";
import type { ModuleMemory, NumberArray } from "./memory.js";

const arrayTypes: Record<string, NumberArray> = { uint8: Uint8Array, uint32: Uint32Array, float32: Float32Array };

/** Returns the shape of the part that a run with these lengths reads. */
type PartOf = (queries: number, keys: number) => readonly number[];

/** An array that a run takes, and its place in memory, which has room for the whole shape. */
export interface ArrayInput {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  readonly partOf: PartOf;
  readonly at: number;
}

/**
 * One extent: bytes have one element for each key, and numbers have one for each head. Two extents or more: the last two
 * are queries and keys. The extent of the keys is fixed if the kernel has no option for the number of columns.
 */
const partOf = ({ name, type, shape = [] }: Option, { options, keys: mostKeys }: Description): PartOf => {
  if (shape.length < 2) return (_, keys) => (type === "uint8" && shape[0] === mostKeys ? [keys] : shape);
  const hasColumns = options.some((other) => other.name === `${name}_keys`);
  return (queries, keys) => [...shape.slice(0, -2), queries, hasColumns ? keys : shape.at(-1)!];
};

/** Allocates the arrays of a kernel's options, and the context. `attention` is an output. */
export const allocateInputs = (memory: ModuleMemory, description: Description): ArrayInput[] => {
  const { context, keys: mostKeys, keyModel, options } = description;
  const allocate = (type: string, shape: readonly number[]): number =>
    memory.allocate(arrayTypes[type]!.BYTES_PER_ELEMENT * product(shape)).at;
  const inputs = options
    .filter(({ name, shape }) => shape && name !== "attention")
    .map((option): ArrayInput => {
      const { name, type, shape = [] } = option;
      return { name, type, shape, partOf: partOf(option, description), at: allocate(type, shape) };
    });
  if (context) {
    const shape = [mostKeys, keyModel];
    const at = allocate("float32", shape);
    inputs.push({ name: "context", type: "float32", shape, partOf: (_, keys) => [keys, keyModel], at });
  }
  return inputs;
};

/**
 * Copies an array that has either the whole shape or the part that this run reads. A kernel with an option for the
 * number of columns reads rows of that many columns. Returns the number of columns.
 */
export const writeInput = (memory: ModuleMemory, input: ArrayInput, source: any, part: readonly number[]): number => {
  const { name, type, shape, at } = input;
  const all = product(shape);
  checkLength(name, source, product(part), all);
  const given = source.length === all ? shape : part;
  // Every value but 0, 0n and false is a 1. Copied as they are, 256 would be a 0.
  const values = type === "uint8" ? Uint8Array.from(source, Boolean as any) : source;
  const Type = arrayTypes[type]!;
  const [rows = 1, columns] = given.slice(-2) as [number, number?];
  if (columns === undefined) {
    memory.write(at, values, Type);
    return rows;
  }
  const heads = product(given.slice(0, -2));
  for (let head = 0; head < heads; ++head) {
    const first = head * rows * columns;
    const ofHead = heads > 1 ? Array.prototype.slice.call(values, first, first + rows * columns) : values;
    memory.write(at + Type.BYTES_PER_ELEMENT * head * shape.at(-2)! * columns, ofHead, Type);
  }
  return columns;
};
