// SPDX-License-Identifier: Apache-2.0
import type { Description } from "./description.js";
import { fail } from "./fail.js";
import { type FindTensors, type StoredTensor, type StoredTensors, tensorFinder } from "./find-tensors.js";
import type { Block, ModuleMemory } from "./memory.js";

/** Returns the size of a block for pointers to the offsets and for tensors of that many bytes. */
export const blockSize = (offsets: readonly number[], bytes: number): number => 4 * offsets.length + bytes;

/** The weights of one instance: in one block, the C struct of pointers and then the tensors. */
export class WeightStore {
  readonly memory: ModuleMemory;
  readonly find: FindTensors;
  readonly #onChange: () => void;
  #block: Block | undefined;
  #tensorsAt = 0;
  #tensors: StoredTensors = new Map();

  /** Calls `onChange` when new weights replace the old weights. */
  constructor(memory: ModuleMemory, description: Description, onChange: () => void) {
    this.memory = memory;
    this.find = tensorFinder(description);
    this.#onChange = onChange;
  }

  /** The address of the C struct. Throws "weights" if there are none. */
  get at(): number {
    return (this.#block ?? fail("weights", "no weights yet")).at;
  }

  /** Copies the arrays into memory, after all were checked. */
  set(given: Readonly<Record<string, Float32Array>>, prefix?: string): void {
    const { memory } = this;
    const found = new Map<string, StoredTensor>();
    let bytes = 0;
    const sources = Object.entries(given ?? {}).map(([name, data]) => {
      if (!(data instanceof Float32Array)) fail("weights", name, "a Float32Array", data);
      found.set(name, { begin: bytes, length: data.length });
      bytes += data.byteLength;
      // A view of this memory becomes empty if the memory grows.
      return data.buffer === memory.exports.memory.buffer ? data.slice() : data;
    });
    const offsets = this.find(found, prefix);
    const block = memory.allocate(blockSize(offsets, bytes));
    let at = this.tensorsAt(block, offsets);
    for (const source of sources) {
      memory.write(at, source);
      at += source.byteLength;
    }
    this.adopt(found, offsets, block);
  }

  /** Returns the address of the tensors in a block. */
  tensorsAt(block: Block, offsets: readonly number[]): number {
    return block.at + 4 * offsets.length;
  }

  /** Makes the tensors in a block the weights of the instance. `offsets` are those that `find` returned. */
  adopt(found: StoredTensors, offsets: readonly number[], block: Block): void {
    const first = this.tensorsAt(block, offsets);
    const pointers = offsets.map((offset) => first + offset);
    this.memory.write(block.at, pointers, Uint32Array);
    this.memory.release(this.#block);
    this.#block = block;
    this.#tensorsAt = first;
    this.#tensors = found;
    this.#onChange();
  }

  /** Returns a view of a tensor. */
  tensor(name: string): Float32Array {
    const found = this.#tensors.get(name) ?? fail("weights", "tensor", [...this.#tensors.keys()], name);
    found.reject?.();
    return this.memory.floats(this.#tensorsAt + found.begin, found.length);
  }
}
