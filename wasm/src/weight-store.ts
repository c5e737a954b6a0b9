// SPDX-License-Identifier: Apache-2.0
import { classOf } from "./check.js";
import { type Description, slotsOf } from "./description.js";
import { bfloat16Of, type WeightArray, type WeightType, weightArrays } from "./element-types.js";
import { fail } from "./fail.js";
import type { StoredTensor } from "./find-tensors.js";
import type { ModuleMemory } from "./memory.js";
import { WeightBlock } from "./weight-block.js";
import { type GivenTensor, type PlanWeights, type WeightPlan, weightPlanner } from "./weight-plan.js";

/** The arrays that `Weights.set` takes. */
export type GivenArray = Float32Array | Uint16Array | Int8Array | Uint8Array;

const typeOf = (name: string, data: unknown): WeightType => {
  const types = ["float32", "bfloat16", "int8", "int4"] as const;
  const found = types.find((type) => data instanceof weightArrays[type]);
  return found ?? fail("weights", name, "a Float32Array, a Uint16Array (bfloat16), an Int8Array or a Uint8Array (int4)", classOf(data));
};

/** The weights of one instance. */
export class WeightStore {
  readonly #memory: ModuleMemory;
  readonly plan: PlanWeights;
  readonly #onChange: () => void;
  readonly #description: Description;
  readonly #isNeeded: boolean;
  #block: WeightBlock | undefined;

  /** Calls `onChange` when new weights replace the old weights. */
  constructor(memory: ModuleMemory, description: Description, onChange: () => void) {
    this.#memory = memory;
    this.plan = weightPlanner(description);
    this.#description = description;
    this.#isNeeded = slotsOf(description).length > 0;
    this.#onChange = onChange;
  }

  /**
   * The address of the C struct of pointers to the weights, or 0 if the kernel has no weights. Throws "weights" if the
   * kernel needs weights and there are none.
   */
  get at(): number {
    return this.#isNeeded ? this.#weights.at : 0;
  }

  get #weights(): WeightBlock {
    return this.#block ?? fail("weights", "no weights yet (weights.set, weights.load)");
  }

  /** Checks all arrays, and then copies them into memory. Float arrays of other matrices are quantised or rounded. */
  set(given: Readonly<Record<string, GivenArray>>, prefix?: string): void {
    const { memory } = this.#memory.exports;
    const sources = new Map<string, GivenArray>();
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
        else write(block, plan.tensors.get(name)!, source);
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
    return new WeightBlock(this.#memory, plan, this.#description);
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

const write = (block: WeightBlock, { begin, type }: StoredTensor, source: GivenArray): void => {
  const isRounded = type === "bfloat16" && source instanceof Float32Array;
  block.write(begin, isRounded ? bfloat16Of(source) : source, weightArrays[type as WeightType]);
};

const quantise = (block: WeightBlock, name: string, columns: number, weights: Float32Array): void => {
  for (let row = 0; row * columns < weights.length; ++row) {
    block.quantiseRow(name, row, weights.subarray(row * columns, (row + 1) * columns));
  }
};
