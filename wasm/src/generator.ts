// SPDX-License-Identifier: Apache-2.0
// Writes texts with an imported model that has a language model's head.
import { checkCount, checkOptions, checkProgress, checkSignal, isSize } from "./check.js";
import { abortOf, fail } from "./fail.js";
import type { ModelDescription, ModelInput } from "./model-description.js";
import { noToken, type SamplingOptions, samplerOf } from "./sampling.js";
import type { TextOptions } from "./text-cache.js";
import type { Tokenizer } from "./tokenizer.js";

/** A Model, or the model of a wrapper, with a head. */
export interface LanguageModel {
  readonly description: Pick<ModelDescription, "name" | "inputs" | "functions" | "texts">;
  head(inputs: any): Float32Array;
  logits?(ids: readonly number[], options?: TextOptions): Float32Array;
  read?(ids: readonly number[], options: TextOptions & { readonly prompt: number }): void;
}

export interface GeneratorOptions {
  /** The tokenizer of the model. Without a tokenizer, prompts are numbers, and tokens have no text. */
  readonly tokenizer?: Tokenizer;
  /** The ids of tokens that end a text, as `eos` of the wrapper that `./dev import --wasm` wrote. */
  readonly eos?: readonly number[];
}

export interface GenerateOptions extends SamplingOptions {
  /** The largest number of new tokens. By default, a text ends where the model has no room for more tokens. */
  readonly tokens?: number;
  /**
   * In a model with an encoder and a decoder: the ids with which the decoder's text begins. The default is `texts.starts`
   * of the model's description.
   */
  readonly starts?: ArrayLike<number>;
  /**
   * Is called with the number of computed ids of the prompt and the number of all its ids, until the numbers are equal.
   * With an encoder, the ids of the prompt are `starts`.
   */
  readonly progress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

export interface GeneratedToken {
  readonly id: number;
  /** What the token adds to the text. The bytes of some characters are in several tokens: the last one has the text. */
  readonly text: string;
}

/** The time in milliseconds after which a generator lets the page handle events. */
const slice = 12;

/**
 * Returns a function that ends the task if `slice` milliseconds have passed. The page then handles events, such as a click
 * that aborts. If the signal is aborted, the function throws "aborted".
 */
const pauserOf = (signal: AbortSignal | undefined): (() => Promise<void>) => {
  let begin = performance.now();
  return async () => {
    if (performance.now() - begin >= slice) {
      await new Promise((done) => setTimeout(done));
      begin = performance.now();
    }
    if (signal?.aborted) throw abortOf(signal);
  };
};

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

/** How the logits of a text are computed. */
interface Writing {
  /** The tokens with which the text begins. */
  readonly ids: number[];
  logits(ids: readonly number[]): Float32Array;
  /** Computes the beginning of the prompt. Without it, the prompt is computed at once. */
  readonly read: ((ids: readonly number[]) => void) | undefined;
}

const isNumbers = (values: any): values is ArrayLike<number> => typeof values === "object" && isSize(values?.length);

export class Generator {
  readonly model: LanguageModel;
  readonly #input: ModelInput;
  readonly #tokenizer: Tokenizer | undefined;
  readonly #eos: readonly number[];

  /** Throws "option" if the model has no head that gives a logit for each token. */
  constructor(model: LanguageModel, options: GeneratorOptions = {}) {
    checkOptions(options, ["tokenizer", "eos"]);
    const { tokenizer, eos = [] } = options;
    if (typeof model?.description !== "object") fail("option", "model", "a Model (await Model.load(...))", model);
    if (!Array.isArray(eos)) fail("option", "eos", "an array of token ids", eos);
    const { inputs, functions, texts, name } = model.description;
    const head = functions.find((one) => one.name === "head");
    const input = inputs.find((one) => one.name === texts?.source) ?? inputs[0]!;
    const writes = inputs.length === 1 && input.kind === "ids" && head?.width === input.rows && !head.hasRows;
    if (!writes && !texts?.source) {
      fail("option", name, "a language model, with logits of all tokens", functions.map((one) => one.name));
    }
    this.model = model;
    this.#input = input;
    this.#tokenizer = tokenizer;
    this.#eos = eos;
  }

  /**
   * Generates the tokens that follow the prompt: a text or token ids. In a model with an encoder and a decoder, the
   * prompt is the input of the encoder, such as a text or the samples of a sound, and the decoder's tokens are generated.
   * The iteration ends at a token of `eos`, which is not returned. If the signal is aborted, throws "aborted".
   */
  async *generate(
    prompt: string | ArrayLike<number>,
    options: GenerateOptions = {},
  ): AsyncGenerator<GeneratedToken, void, undefined> {
    checkOptions(options, ["tokens", "starts", "progress", "signal", "temperature", "topK", "topP", "seed"]);
    const { tokens = Infinity, progress, signal } = options;
    checkSignal(signal);
    checkProgress(progress);
    if (tokens !== Infinity) checkCount("tokens", tokens, 2 ** 31);
    const choose = samplerOf(options);
    const { ids, logits, read } = this.#begin(this.#numbersOf(prompt), options.starts);
    const total = ids.length;
    const textOf = decoderOf(this.#tokenizer, ids);
    const most = Math.min(this.model.description.texts?.most ?? this.#input.most, total + tokens);
    const pause = pauserOf(signal);
    const { piece = total } = this.model.description.texts ?? {};
    for (let done = piece; read && done < total && total < most; done += piece) {
      await pause();
      read(ids.slice(0, done));
      progress?.(done, total);
    }
    while (ids.length < most) {
      await pause();
      const next = logits(ids);
      if (ids.length === total) progress?.(total, total);
      const id = choose(next);
      if (id === noToken || this.#eos.includes(id)) return;
      ids.push(id);
      yield { id, text: textOf(id) };
    }
  }

  #begin(numbers: number[], starts: ArrayLike<number> | undefined): Writing {
    const { model } = this;
    const { texts } = model.description;
    if (texts?.source) {
      const ids = Array.from(starts ?? texts.starts ?? []);
      if (!ids.length) fail("option", "starts", "token ids, because the model's settings have none", starts);
      return this.#cached(ids, { source: numbers, prompt: ids.length });
    }
    if (starts !== undefined) fail("option", "starts", "none (the model has no encoder)", starts);
    if (texts && model.logits) return this.#cached(numbers, { prompt: numbers.length });
    // A model without caches computes the whole text again.
    return { ids: numbers, logits: (all) => model.head({ [this.#input.name]: all }), read: undefined };
  }

  #cached(ids: number[], options: { readonly source?: readonly number[]; readonly prompt: number }): Writing {
    const { model } = this;
    const read = model.read && ((all: readonly number[]) => model.read!(all, options));
    return { ids, logits: (all) => model.logits!(all, options), read };
  }

  /** Returns a copy of the numbers, or the ids of a text. */
  #numbersOf(prompt: string | ArrayLike<number>): number[] {
    if (isNumbers(prompt)) return Array.from(prompt);
    const { kind } = this.#input;
    if (typeof prompt !== "string" || kind !== "ids") return fail("option", "prompt", kind === "ids" ? "a text or ids" : "numbers", prompt);
    return this.#tokenizer ? this.#tokenizer.encode(prompt) : fail("option", "prompt", "token ids (no tokenizer)", "a text");
  }
}
