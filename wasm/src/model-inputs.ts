// SPDX-License-Identifier: Apache-2.0
// Checks the inputs of a model, and copies them into the memory of its module.
import { fail } from "./fail.js";
import type { Block, ModuleMemory } from "./memory.js";
import type { ModelInput } from "./model-description.js";

/** The inputs of a model: for each name, token ids or floats, row-major. Types of tokens may be undefined. */
export type ModelInputs = Readonly<Record<string, ArrayLike<number> | undefined>>;

/** Returns the number of frames. Throws "length" if the model does not take so many numbers. */
const checkLength = ({ name, most, fixed, width }: ModelInput, values: any): number => {
  const length = typeof values === "object" ? values?.length : undefined;
  if (fixed && length !== most * width) fail("length", `length of ${name}`, most * width, length);
  const frames = length / width;
  if (Number.isInteger(frames) && frames >= 1 && frames <= most) return frames;
  const unit = width === 1 ? "" : ` frames of ${width} numbers`;
  return fail("length", `length of ${name}`, `1 to ${most}${unit}`, length);
};

const checkIds = (name: string, rows: number, ids: ArrayLike<number>): void => {
  for (let i = 0; i < ids.length; ++i) {
    const id = ids[i]!;
    if (!(Number.isInteger(id) && id >= 0 && id < rows)) {
      fail("length", `${name}[${i}]`, `an integer from 0 to ${rows - 1}`, id);
    }
  }
};

/** Throws unless `inputs` has exactly the inputs of the model. Returns the frames of each input. */
const checkInputs = (described: readonly ModelInput[], inputs: any): number[] => {
  const names = described.flatMap(({ name, types = [] }) => [name].concat(types));
  if (Object(inputs) !== inputs || ArrayBuffer.isView(inputs)) fail("option", "inputs", `an object of ${names}`, inputs);
  for (const name in inputs) if (!names.includes(name)) fail("option", "input", names, name);
  return described.map((input) => {
    const frames = checkLength(input, inputs[input.name]);
    if (input.kind === "ids") checkIds(input.name, input.rows, inputs[input.name]);
    const { types } = input;
    const given = types && inputs[types];
    if (types && given !== undefined) {
      if (given?.length !== frames) fail("length", `length of ${types}`, frames, given?.length);
      checkIds(types, input.typeRows!, given);
    }
    return frames;
  });
};

/** The places of the inputs in the memory of a module. */
export class InputBlocks {
  readonly #memory: ModuleMemory;
  readonly #described: readonly ModelInput[];
  readonly #blocks: ReadonlyMap<ModelInput, Block>;

  constructor(memory: ModuleMemory, described: readonly ModelInput[]) {
    this.#memory = memory;
    this.#described = described;
    const blockOf = ({ most, width, types }: ModelInput): Block => memory.allocate(4 * most * width * (types ? 2 : 1));
    this.#blocks = new Map(described.map((input) => [input, blockOf(input)]));
  }

  /**
   * Copies the inputs, or those with the given names. Returns the arguments of a C function: for each input, an address,
   * perhaps the address of the types behind the ids (0 without types), and perhaps a length.
   */
  write(inputs: ModelInputs, names?: readonly string[]): number[] {
    const described = this.#described.filter(({ name }) => names?.includes(name) ?? true);
    const frames = checkInputs(described, inputs);
    return described.flatMap((input, i) => {
      const { name, kind, fixed, most, types } = input;
      const { at } = this.#blocks.get(input)!;
      this.#memory.write(at, inputs[name]!, kind === "ids" ? Int32Array : Float32Array);
      const args = [at];
      if (types) {
        const given = inputs[types];
        if (given) this.#memory.write(at + 4 * most, given, Int32Array);
        args.push(given ? at + 4 * most : 0);
      }
      return fixed ? args : [...args, frames[i]!];
    });
  }
}
