// SPDX-License-Identifier: Apache-2.0
// Converts texts to token ids and back, as the file tokenizer.json of a model says. The work is done by the library
// @huggingface/tokenizers, which the build puts into tokenizer.js.
import { Tokenizer as Library } from "@huggingface/tokenizers";
import { checkOptions, checkText } from "./check.js";
import { attempt, fail } from "./fail.js";
import { readBytes } from "./read.js";
import { type EncodedPair, joinPair } from "./text-pair.js";
import type { Source } from "./types.js";

export interface TokenizerOptions {
  /** tokenizer_config.json of the model. Few models need it. */
  readonly config?: Source;
  readonly signal?: AbortSignal;
}

export interface EncodeOptions {
  /** False leaves out tokens around the text, such as [CLS] and [SEP]. */
  readonly specialTokens?: boolean;
}

/** Parses a file of JSON. Throws "option" if it is none. */
const readJson = async (name: string, source: Source, signal?: AbortSignal): Promise<any> => {
  const text = new TextDecoder().decode(await readBytes(source, signal));
  const value = attempt("option", () => JSON.parse(text), name);
  return Object(value) === value ? value : fail("option", name, "an object", value);
};

export type { EncodedPair } from "./text-pair.js";

export class Tokenizer {
  readonly #library: Library;
  readonly #postProcessor: unknown;

  /**
   * Reads tokenizer.json of a model.
   * Errors: "option" if a file is no JSON or describes a tokenizer that the library lacks, "network", "aborted".
   */
  static async load(source: Source, options: TokenizerOptions = {}): Promise<Tokenizer> {
    checkOptions(options, ["config", "signal"]);
    const { config, signal } = options;
    const tokenizer = await readJson("tokenizer.json", source, signal);
    return Tokenizer.from(tokenizer, config && (await readJson("tokenizer_config.json", config, signal)));
  }

  /** Makes a tokenizer from the content of tokenizer.json. */
  static from(tokenizer: object, config: object = {}): Tokenizer {
    const library = attempt("option", () => new Library(tokenizer, config), "tokenizer.json");
    return new Tokenizer(library, (tokenizer as any).post_processor);
  }

  private constructor(library: Library, postProcessor: unknown) {
    this.#library = library;
    this.#postProcessor = postProcessor;
  }

  /** Returns the token ids of a text. */
  encode(text: string, options: EncodeOptions = {}): number[] {
    checkText("text", text);
    checkOptions(options, ["specialTokens"]);
    const { specialTokens = true } = options;
    return this.#library.encode(text, { add_special_tokens: specialTokens }).ids;
  }

  /**
   * Returns the token ids of a pair of texts, as a cross-encoder reads them, with their types (`token_type_ids`). Nothing
   * is cut. A text may be empty.
   */
  encodePair(text: string, pair: string, options: EncodeOptions = {}): EncodedPair {
    checkText("text", text);
    checkText("pair", pair);
    checkOptions(options, ["specialTokens"]);
    const { specialTokens = true } = options;
    const [A, B] = [text, pair].map((one) => this.encode(one, { specialTokens: false }));
    return attempt("option", () => joinPair(this.#postProcessor, { A: A!, B: B! }, specialTokens), "post_processor");
  }

  /** Returns the text of token ids, without special tokens. */
  decode(ids: ArrayLike<number>): string {
    return attempt("option", () => this.#library.decode(Array.from(ids), { skip_special_tokens: true }), "ids");
  }

  /** Returns the token with an id as the vocabulary spells it, or undefined. */
  token(id: number): string | undefined {
    return this.#library.id_to_token(id);
  }
}
