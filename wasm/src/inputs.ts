import type { Description } from "./description.js";
import { fail } from "./errors.js";
import type { Memory } from "./memory.js";

/** Where a kernel reads an input, with room for so many blocks (one, or one a head), rows and columns. */
interface Place {
  readonly type: Float32ArrayConstructor | Uint32ArrayConstructor | Uint8ArrayConstructor;
  readonly at: number;
  readonly blocks: number;
  readonly rows: number;
  readonly columns: number;
}

/**
 * Copies an input to its place: the rows and columns that take part, or all that there is room for. Tells where it is,
 * and the columns of a row there.
 */
export type Copy = (name: string, source: unknown, rows: number, columns: number) => [at: number, columns: number];

/** Places for all that a kernel may be given beside weights. */
export const copier = (description: Description, memory: Memory, wasm: WebAssembly.Memory): Copy => {
  const { queries, keys, model, heads, keyModel, mask, context, options } = description;
  const places: Record<string, Place> = {};
  const add = (name: string, type: Place["type"], rows: number, columns: number, there = options.includes(name)): void => {
    const blocks = mask.includes(`${name}_per_head`) ? heads : 1;
    if (there) {
      const { at } = memory.take(blocks * rows * columns * type.BYTES_PER_ELEMENT);
      places[name] = { type, at, blocks, rows, columns };
    }
  };
  add("x", Float32Array, queries, model, true);
  add("context", Float32Array, keys, keyModel, context);
  add("padding", Uint8Array, 1, keys);
  add("bits", Uint32Array, queries, Math.ceil(keys / 32));
  add("boolean", Uint8Array, queries, keys);
  add("additive", Float32Array, queries, keys);
  add("slopes", Float32Array, 1, heads);
  add("sinks", Float32Array, 1, heads);

  return (name, source, rows, columns) => {
    const { type, at, ...room } = places[name]!;
    const all = room.blocks * room.rows * room.columns;
    const part = room.blocks * rows * columns;
    const length = (typeof source === "object" ? (source as ArrayLike<number>) : undefined)?.length;
    if (length !== all && length !== part) fail("length", `length of ${name}`, part === all ? all : `${part} or ${all}`, length);
    if (length === all) [rows, columns] = [room.rows, room.columns];
    try {
      // Bytes say yes or no, so 256 and true are a yes as well.
      const bytes = type === Uint8Array && !(source instanceof Uint8Array);
      const numbers: any = bytes ? Uint8Array.from(source as ArrayLike<number>, Boolean as any) : source;
      for (let block = 0; block < room.blocks; ++block) {
        const first = block * rows * columns;
        const to = at + block * room.rows * columns * type.BYTES_PER_ELEMENT;
        const piece = room.blocks > 1 ? Array.prototype.slice.call(numbers, first, first + rows * columns) : numbers;
        new type(wasm.buffer, to).set(piece);
      }
    } catch (cause) {
      fail("option", name, "numbers", source, cause);
    }
    return [at, columns];
  };
};
