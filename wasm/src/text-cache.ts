// SPDX-License-Identifier: Apache-2.0
// The logits of growing texts. The caches of the latest text stay in the memory of the module, so that only the tokens
// that are new since the last call are computed (src/import/c_text.cpp).
import { checkCount, checkOptions } from "./check.js";
import { fail } from "./fail.js";
import type { Block, ModuleMemory } from "./memory.js";
import { InputBlocks } from "./model-inputs.js";
import type { ModelInput, ModelTexts } from "./model-description.js";
import { checkModelStatus } from "./model-status.js";

export interface TextOptions {
  /** In a model with an encoder and a decoder: the input of the encoder. */
  readonly source?: ArrayLike<number>;
  /**
   * The number of ids in the prompt. The default is all ids of the call with which a text begins. The settings of some
   * models name tokens that must not follow the prompt (`begin_suppress_tokens`): their logits are then -Infinity.
   */
  readonly prompt?: number;
}

/** The ids in the caches, the number of ids in the prompt, of which the caches may lack the end, and the numbers with which their text began. */
interface Known {
  readonly ids: readonly number[];
  readonly prompt: number;
  readonly source: readonly number[] | undefined;
}

const isEqual = (a: ArrayLike<number> = [], b: ArrayLike<number> = []): boolean =>
  a.length === b.length && Array.prototype.every.call(a, (one, i) => one === b[i]);

export class TextCache {
  readonly #memory: ModuleMemory;
  readonly #texts: ModelTexts;
  readonly #text: Block;
  readonly #ids: Block;
  readonly #next: Block;
  readonly #sources: InputBlocks;
  #known: Known | undefined;

  constructor(memory: ModuleMemory, texts: ModelTexts, inputs: readonly ModelInput[]) {
    this.#memory = memory;
    this.#texts = texts;
    this.#text = memory.allocate(memory.call("text_bytes"));
    this.#ids = memory.allocate(4 * texts.most);
    this.#next = memory.allocate(4);
    this.#sources = new InputBlocks(memory, inputs.filter(({ name }) => name === texts.source));
  }

  /** Returns a copy of the logits of the token that follows `ids`. */
  logits(ids: readonly number[], options: TextOptions): Float32Array {
    if (options.prompt !== undefined) checkCount("prompt", options.prompt, ids.length);
    this.#extend(ids, options);
    const at = this.#memory.call("text_logits", this.#text.at);
    return this.#memory.floats(at, this.#texts.vocabulary).slice();
  }

  /** Computes `ids`, the beginning of a prompt, so that `logits` computes less. */
  read(ids: readonly number[], options: TextOptions): void {
    checkCount("prompt", options.prompt, this.#texts.most, ids.length + 1);
    this.#extend(ids, options);
  }

  /** Computes those of the ids that are not in the caches yet. Begins a text unless the ids continue the latest text. */
  #extend(ids: readonly number[], { source, prompt }: TextOptions): void {
    if ((source === undefined) !== (this.#texts.source === undefined)) {
      fail("option", "source", this.#texts.source ?? "none (the model has no encoder)", source);
    }
    const known = this.#known;
    this.#known = undefined; // a call that fails leaves no text
    const continues =
      known &&
      known.ids.length < ids.length &&
      isEqual(known.ids, ids.slice(0, known.ids.length)) &&
      (prompt === undefined ? known.prompt <= ids.length : known.prompt === prompt) &&
      isEqual(known.source, source);
    const text = continues ? known : this.#begin(prompt ?? ids.length, source);
    const done = text.ids.length;
    if (done === 0 || done < text.prompt) this.#readPrompt(ids.slice(done, text.prompt), ids.length >= text.prompt);
    for (const id of ids.slice(Math.max(done, text.prompt))) this.#call("text_next", id);
    this.#known = { ...text, ids: Array.from(ids) };
  }

  /** Begins a text without ids. */
  #begin(prompt: number, source?: ArrayLike<number>): Known {
    const of = source ? this.#sources.write({ [this.#texts.source!]: source }) : [];
    checkModelStatus(this.#memory.call("text_begin", ...of, 0, this.#text.at, 0));
    return { ids: [], prompt, source: source && Array.from(source) };
  }

  #readPrompt(ids: readonly number[], isLast: boolean): void {
    // A prompt that is too long needs no room: the module refuses its length.
    new Int32Array(this.#memory.exports.memory.buffer, this.#ids.at, this.#texts.most).set(ids.slice(0, this.#texts.most));
    this.#call("text_prompt", this.#ids.at, ids.length, Number(isLast));
  }

  #call(name: "text_prompt" | "text_next", ...args: number[]): void {
    checkModelStatus(this.#memory.call(name, ...args, this.#next.at, this.#text.at, 0));
  }
}
