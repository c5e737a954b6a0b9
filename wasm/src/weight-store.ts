// SPDX-License-Identifier: Apache-2.0
import type { Description } from "./description.js";
import type { WeightArray, WeightType } from "./element-types.js";
import { fail } from "./fail.js";
import type { ModuleMemory } from "./memory.js";
import { WeightBlock } from "./weight-block.js";
import { type GivenTensor, type PlanWeights, type WeightPlan, weightPlanner } from "./weight-plan.js";

const typeOf = (name: string, data: unknown): WeightType => {
  if (data instanceof Float32Array) return "float32";
  return data instanceof Int8Array ? "int8" : fail("weights", name, "a Float32Array or an Int8Array", data);
};

/** The weights of one instance. */
export class WeightStore {
  readonly #memory: ModuleMemory;
  readonly plan: PlanWeights;
  readonly #onChange: () => void;
  readonly #rotated: boolean;
  #block: WeightBlock | undefined;

  /** Calls `onChange` when new weights replace the old weights. */
  constructor(memory: ModuleMemory, description: Description, onChange: () => void) {
    this.#memory = memory;
    this.plan = weightPlanner(description);
    this.#rotated = description.rotated ?? false;
    this.#onChange = onChange;
  }

  /** The address of the C struct of pointers to the weights. Throws "weights" if there are no weights. */
  get at(): number {
    return this.#weights.at;
  }

  get #weights(): WeightBlock {
    return this.#block ?? fail("weights", "no weights yet");
  }

  /** Checks all arrays, and then copies them into memory. Float arrays of int8 matrices are quantised. */
  set(given: Readonly<Record<string, Float32Array | Int8Array>>, prefix?: string): void {
    const { memory } = this.#memory.exports;
    const sources = new Map<string, Float32Array | Int8Array>();
    const tensors = new Map<string, GivenTensor>();
    for (const [name, data] of Object.entries(given ?? {})) {
      tensors.set(name, { type: typeOf(name, data), bytes: data.byteLength, length: data.length });
      // If `data` is a view of the instance's memory, its numbers are copied, because such a view becomes empty when
      // the memory grows.
      sources.set(name, data.buffer === memory.buffer ? data.slice() : data);
    }
    const plan = this.plan(tensors, prefix);
    const block = this.reserve(plan);
    try {
      block.reach(plan.bytes);
      for (const [name, source] of sources) {
        const matrix = plan.matrices.get(name);
        if (matrix?.scale !== undefined) quantise(block, name, matrix.columns, source as Float32Array);
        else block.write(plan.tensors.get(name)!.begin, source, source instanceof Int8Array ? Int8Array : Float32Array);
      }
      this.adopt(block);
    } catch (error) {
      block.release();
      throw error;
    }
  }

  /**
   * Reserves memory for new weights, and returns the block. The caller must later release the block, or pass it to
   * `adopt`.
   */
  reserve(plan: WeightPlan): WeightBlock {
    return new WeightBlock(this.#memory, plan, this.#rotated);
  }

  /** Makes a block the weights of the instance. If the block is invalid, throws and keeps the old weights. */
  adopt(block: WeightBlock): void {
    block.finish();
    this.#block?.release();
    this.#block = block;
    this.#onChange();
  }

  tensor(name: string, type?: WeightType): WeightArray {
    return this.#weights.tensor(name, type);
  }
}

const quantise = (block: WeightBlock, name: string, columns: number, weights: Float32Array): void => {
  for (let row = 0; row * columns < weights.length; ++row) {
    block.quantiseRow(name, row, weights.subarray(row * columns, (row + 1) * columns));
  }
};
