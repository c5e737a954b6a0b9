// SPDX-License-Identifier: Apache-2.0
// Computes a whole model, which `./dev import FOLDER --wasm DIR` has made into modules and a file of weights.
import { checkLoaded, checkOptions, checkProgress, checkSignal } from "./check.js";
import { fail } from "./fail.js";
import { type Block, type FunctionName, ModuleMemory } from "./memory.js";
import { InputBlocks, type ModelInputs } from "./model-inputs.js";
import { describeModel, type ModelDescription, type ModelFunction } from "./model-description.js";
import { loadModule, type ModelSource, type ModuleOptions } from "./model-source.js";
import { checkModelStatus } from "./model-status.js";
import { loadWeights, type ModelWeightsOptions } from "./model-weights.js";
import { TextCache, type TextOptions } from "./text-cache.js";

export interface ModelOptions extends ModuleOptions, ModelWeightsOptions {
  readonly module: ModelSource;
}

/** The last hidden state [rows][width], row-major. */
export interface HiddenState {
  readonly last: Float32Array;
  readonly rows: number;
  readonly width: number;
}

/** The place of a function's result in the memory of the module. */
interface ResultBlock {
  readonly values: Block;
  readonly rows: Block;
}

/**
 * A model with its weights. `Inputs` are its inputs, such as `{ input_ids }`. In a model of several stacks, such as CLIP,
 * a call takes the inputs of one stack, and computes this stack: `head({ input_ids })` is the vector of a text, and
 * `head({ pixel_values })` that of an image. All results are copies. Every error is a LadonError.
 */
export class Model<Inputs extends ModelInputs = ModelInputs> {
  readonly description: ModelDescription;
  #memory: ModuleMemory | undefined;
  readonly #inputs: InputBlocks;
  readonly #results = new Map<string, ResultBlock>();
  #texts: TextCache | undefined;

  static async load<Inputs extends ModelInputs = ModelInputs>(options: ModelOptions): Promise<Model<Inputs>> {
    checkOptions(options, ["module", "weights", "sha256", "progress", "signal", "cache", "variant"]);
    checkSignal(options.signal);
    checkProgress(options.progress);
    const module = await loadModule(options.module, options);
    const memory = new ModuleMemory(module);
    const { at, bytes } = await loadWeights(memory, options);
    checkModelStatus(memory.call("start", at, bytes));
    return new Model<Inputs>(describeModel(module), memory);
  }

  private constructor(description: ModelDescription, memory: ModuleMemory) {
    checkLoaded("Model", memory);
    this.description = description;
    this.#memory = memory;
    this.#inputs = new InputBlocks(memory, description.inputs);
  }

  /** Computes the last hidden state. */
  run(inputs: Inputs): HiddenState {
    const { width } = this.#functionOf("run", inputs);
    const last = this.#call("run", inputs);
    return { last, rows: last.length / width, width };
  }

  /** Computes what the model's pooler makes of the last hidden state, such as the vector of a sentence. */
  pool(inputs: Inputs): Float32Array {
    return this.#call("pool", inputs);
  }

  /**
   * Computes what the model's head makes of the last hidden state, such as the logits of classes. A head that classifies
   * each token (`hasRows` of its description) gives the logits of all rows, [rows][width].
   */
  head(inputs: Inputs): Float32Array {
    return this.#call("head", inputs);
  }

  /**
   * Computes the logits of the token that follows the text `ids`, in a language model. With an encoder, `options` must
   * have its input, `source`. The model keeps the caches of the latest text: if `ids` continue that text, and the source
   * is equal, only the new tokens are computed.
   */
  logits(ids: readonly number[], options: TextOptions = {}): Float32Array {
    return this.#textsFor(options).logits(ids, options);
  }

  /**
   * Computes `ids`, the beginning of a text whose prompt has `options.prompt` ids, so that `logits` of the whole prompt
   * computes only the other ids. So a page can handle events while a long prompt is computed: each call adds a multiple of
   * `description.texts.piece` ids, and the logits are equal to those of one call. `options` are those of `logits`.
   */
  read(ids: readonly number[], options: TextOptions & { readonly prompt: number }): void {
    this.#textsFor(options).read(ids, options);
  }

  /** Frees the memory. Results stay valid. */
  free(): void {
    this.#memory = undefined;
    this.#texts = undefined;
  }

  #textsFor(options: TextOptions): TextCache {
    const memory = this.#alive();
    const { texts, inputs, name, functions } = this.description;
    if (!texts) return fail("option", name, "a language model", functions.map((one) => one.name));
    checkOptions(options, ["source", "prompt"]);
    return (this.#texts ??= new TextCache(memory, texts, inputs));
  }

  #alive(): ModuleMemory {
    return this.#memory ?? fail("closed", "the model was freed");
  }

  /** Returns the function with this name, or in a model of several stacks that of the stack with these inputs. */
  #functionOf(name: string, given: any): ModelFunction {
    const { functions, name: model } = this.description;
    const found = functions.filter((one) => one.name === name || (one.inputs && one.name.startsWith(`${name}_`)));
    if (!found.length) fail("option", `function of ${model}`, functions.map((one) => one.name), name);
    const hasInput = ({ inputs }: ModelFunction): boolean => !inputs || inputs.some((input) => input in Object(given));
    const names = found.flatMap(({ inputs = [] }) => inputs);
    return found.find(hasInput) ?? fail("option", "inputs", `an object of ${names.join(" or ")}`, given);
  }

  #call(name: "run" | "pool" | "head", inputs: Inputs): Float32Array {
    const memory = this.#alive();
    const described = this.#functionOf(name, inputs);
    const { values, rows } = this.#resultOf(described);
    const args = [...this.#inputs.write(inputs, described.inputs), values.at, ...(described.hasRows ? [rows.at] : [])];
    const withTypes = this.description.inputs.some(({ types }) => types);
    const called = withTypes ? `${described.name}_with_types` : described.name;
    checkModelStatus(memory.call(called as FunctionName, ...args, 0));
    const { buffer } = memory.exports.memory;
    const count = described.hasRows ? new Uint32Array(buffer, rows.at, 1)[0]! : 1;
    return memory.floats(values.at, count * described.width).slice();
  }

  #resultOf({ name, most, width }: ModelFunction): ResultBlock {
    const memory = this.#alive();
    let result = this.#results.get(name);
    if (!result) {
      result = { values: memory.allocate(4 * Math.max(most, 1) * width), rows: memory.allocate(4) };
      this.#results.set(name, result);
    }
    return result;
  }
}
