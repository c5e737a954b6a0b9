// SPDX-License-Identifier: Apache-2.0
// Continues a text with an imported model that has a language model's head.
import { checkCount, checkOptions, checkSignal } from "./check.js";
import { fail } from "./fail.js";
import type { ModelDescription, ModelInput } from "./model-section.js";
import { type SamplingOptions, samplerOf } from "./sampling.js";
import type { Tokenizer } from "./tokenizer.js";

/** A Model, or the model of a wrapper, with a head. */
export interface LanguageModel {
  readonly description: Pick<ModelDescription, "name" | "inputs" | "functions" | "texts">;
  head(inputs: any): Float32Array;
  logits?(ids: readonly number[]): Float32Array;
}

export interface GeneratorOptions {
  /** The tokenizer of the model. Without a tokenizer, prompts are token ids, and tokens have no text. */
  readonly tokenizer?: Tokenizer;
  /** The ids of tokens that end a text, as `eos` of the wrapper that `./dev import --wasm` wrote. */
  readonly eos?: readonly number[];
}

export interface GenerateOptions extends SamplingOptions {
  /** The largest number of new tokens. By default, a text ends where the model has no room for more tokens. */
  readonly tokens?: number;
  readonly signal?: AbortSignal;
}

export interface GeneratedToken {
  readonly id: number;
  /** What the token adds to the text. The bytes of some characters are in several tokens: the last one has the text. */
  readonly text: string;
}

/** The time in milliseconds after which a generator lets the page handle events. */
const slice = 12;

/** Ends this task. The page then handles events, such as a click that aborts. */
const pause = (): Promise<void> => new Promise((done) => setTimeout(done));

/** Returns a function that converts a new id to the text that the id adds. */
const decoderOf = (tokenizer: Tokenizer | undefined, prompt: readonly number[]): ((id: number) => string) => {
  if (!tokenizer) return () => "";
  const ids = Array.from(prompt);
  let shown = tokenizer.decode(ids);
  return (id) => {
    ids.push(id);
    const text = tokenizer.decode(ids);
    if (text.endsWith("\ufffd")) return ""; // an incomplete character
    const added = text.slice(shown.length);
    shown = text;
    return added;
  };
};

export class Generator {
  readonly model: LanguageModel;
  readonly #input: ModelInput;
  readonly #tokenizer: Tokenizer | undefined;
  readonly #eos: readonly number[];

  /** Throws "option" if the model has no head that gives a logit for each token. */
  constructor(model: LanguageModel, options: GeneratorOptions = {}) {
    checkOptions(options, ["tokenizer", "eos"]);
    const { inputs, functions, name } = model.description;
    const head = functions.find((one) => one.name === "head");
    const [input] = inputs;
    if (inputs.length !== 1 || input!.kind !== "ids" || head?.width !== input!.rows || head.hasRows) {
      fail("option", name, "a language model of one text, with logits of all tokens", functions.map((one) => one.name));
    }
    this.model = model;
    this.#input = input!;
    this.#tokenizer = options.tokenizer;
    this.#eos = options.eos ?? [];
  }

  /**
   * Generates the tokens that follow the prompt: a text or token ids. The iteration ends at a token of `eos`, which is
   * not returned. If the signal is aborted, throws "aborted".
   */
  async *generate(
    prompt: string | ArrayLike<number>,
    options: GenerateOptions = {},
  ): AsyncGenerator<GeneratedToken, void, undefined> {
    checkOptions(options, ["tokens", "signal", "temperature", "topK", "topP", "seed"]);
    const { tokens = Infinity, signal } = options;
    checkSignal(signal);
    if (tokens !== Infinity) checkCount("tokens", tokens, 2 ** 31);
    const choose = samplerOf(options);
    const ids = this.#idsOf(prompt);
    const textOf = decoderOf(this.#tokenizer, ids);
    const most = Math.min(this.#input.most, ids.length + tokens);
    let begin = performance.now();
    while (ids.length < most) {
      if (signal?.aborted) fail("aborted", `generate: ${signal.reason}`, undefined, undefined, signal.reason);
      const id = choose(this.#logits(ids));
      if (this.#eos.includes(id)) return;
      ids.push(id);
      yield { id, text: textOf(id) };
      if (performance.now() - begin < slice) continue;
      await pause();
      begin = performance.now();
    }
  }

  /** A model without caches computes the whole text again. */
  #logits(ids: readonly number[]): Float32Array {
    const { model } = this;
    return model.description.texts && model.logits ? model.logits(ids) : model.head({ [this.#input.name]: ids });
  }

  #idsOf(prompt: string | ArrayLike<number>): number[] {
    if (typeof prompt !== "string") return Object(prompt) === prompt ? Array.from(prompt) : fail("option", "prompt", "a text or ids", prompt);
    return this.#tokenizer ? this.#tokenizer.encode(prompt) : fail("option", "prompt", "token ids (no tokenizer)", "a text");
  }
}
