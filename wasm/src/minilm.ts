// SPDX-License-Identifier: Apache-2.0
// sentence-transformers/all-MiniLM-L6-v2: converts a text to a vector of unit length. Texts of similar meaning have
// similar vectors. The C++ program is examples/minilm/minilm.cpp.
import { attentionRows } from "./attention-rows.js";
import { checkKernel, checkLoaded, checkOptions } from "./check.js";
import { type Instance, type Kernel, LadonError, load, type LoadOptions, type TeamInstance, type TeamKernel, type TeamLoadOptions } from "./core.js";
import { readBytes } from "./read.js";
import type { Source } from "./types.js";
import { WordPiece } from "./word-piece.js";

export { splitWords, WordPiece } from "./word-piece.js";

const epsilon = 1e-12;

interface LoadKernel {
  (options: TeamLoadOptions): Promise<TeamKernel>;
  (options?: LoadOptions): Promise<Kernel>;
}

/** Loads the kernel of the model, without weights. Errors: those of `load`. */
export const loadKernel: LoadKernel = (options: LoadOptions = {}): Promise<any> =>
  load(
    (variant) =>
      options.precision === "int8"
        ? new URL(`./modules/minilm_int8.${variant}.wasm`, import.meta.url)
        : new URL(`./modules/minilm.${variant}.wasm`, import.meta.url),
    options,
  );

export interface SentenceEncoderOptions extends LoadOptions {
  /** The kernel. The default is that of `loadKernel`, which has room for 256 tokens. */
  readonly kernel?: Kernel | TeamKernel;
  /** model.safetensors, or the file that `ladon-weights quantise` makes from it, with or without `--embeddings`. */
  readonly weights: Source;
  /** The file vocab.txt of the model. */
  readonly vocabulary: Source;
  /** Called when bytes of the weights arrive, with the number of bytes so far and the number of bytes of the file. */
  readonly progress?: (bytes: number, total: number) => void;
  /** The prefix of the tensors' names in the file, such as "bert". */
  readonly prefix?: string;
  /** The number of workers that compute each text together. Only `embedAsync` then embeds texts. */
  readonly threads?: number;
}

export interface EmbedOptions {
  readonly attention?: boolean;
}

/** With the option `threads` of `load`, `K` is TeamKernel. */
export class SentenceEncoder<K extends Kernel | TeamKernel = Kernel> {
  readonly layers: number;
  readonly heads: number;
  /** The length of an embedding. */
  readonly width: number;
  /** Longer texts are cut to this number of tokens. */
  readonly maxTokens: number;
  readonly vocabulary: WordPiece;
  readonly kernel: K;
  /** The kernel with the model's weights. */
  readonly encoder: ReturnType<K["create"]>;
  readonly #prefix: string;
  #last: Promise<unknown> = Promise.resolve(); // the last call of `embedAsync`
  #capturedTokens = 0; // the number of tokens of the last `embed` with attention

  static load(options: SentenceEncoderOptions & { readonly threads: number }): Promise<SentenceEncoder<TeamKernel>>;
  static load(options: SentenceEncoderOptions): Promise<SentenceEncoder>;
  static async load(options: SentenceEncoderOptions): Promise<SentenceEncoder<Kernel | TeamKernel>> {
    const ofKernel = ["variant", "precision", "activationBits", "threads"];
    checkOptions(options, ["kernel", "weights", "vocabulary", "progress", "prefix", "signal", ...ofKernel]);
    const { weights, vocabulary, prefix = "", progress, variant, precision, activationBits, threads, signal } = options;
    const ofLoad: LoadOptions = { variant, precision, activationBits, signal };
    const kernel = options.kernel ?? (await (threads ? loadKernel({ ...ofLoad, threads }) : loadKernel(ofLoad)));
    checkKernel(kernel);
    const encoder = kernel.create();
    try {
      const words = new WordPiece(new TextDecoder().decode(await readBytes(vocabulary, signal)));
      await encoder.weights.load(weights, { prefix, progress, signal });
      return new SentenceEncoder(kernel, encoder, words, prefix);
    } catch (error) {
      encoder.free();
      throw error;
    }
  }

  private constructor(kernel: K, encoder: ReturnType<K["create"]>, vocabulary: WordPiece, prefix: string) {
    checkLoaded("SentenceEncoder", encoder);
    const { layers, heads, model, queries } = kernel.description;
    this.kernel = kernel;
    this.layers = layers!;
    this.heads = heads;
    this.width = model;
    this.maxTokens = queries;
    this.vocabulary = vocabulary;
    this.encoder = encoder;
    this.#prefix = prefix && prefix.replace(/\.?$/, ".");
    this.#checkTables();
  }

  /** Returns the token ids of a text: [CLS], the pieces of its words, and [SEP]. The text is cut to maxTokens ids. */
  ids(text: string): number[] {
    return this.vocabulary.encode(text, this.maxTokens);
  }

  /** Returns the pieces of a text, spelled as in the vocabulary. A piece that continues a word begins with "##". */
  tokens(text: string): string[] {
    return this.ids(text).map((id) => this.vocabulary.pieces[id]!);
  }

  /**
   * Returns the embedding of a text, a vector of unit length. If the option `attention` is true, the encoder also keeps
   * the attention weights of this text. The method attention() then returns these weights.
   */
  embed(text: string, { attention = false }: EmbedOptions = {}): Float32Array {
    if ("threads" in this.kernel) throw new LadonError("option", "with threads, call embedAsync in place of embed");
    const ids = this.ids(text);
    const y = (this.encoder as Instance).run(this.#lookUp(ids), { tokens: ids.length, attention });
    return this.#embedding(y, ids.length, attention);
  }

  /** Like `embed`, for an encoder with or without the option `threads`. Texts are embedded one after the other. */
  embedAsync(text: string, { attention = false }: EmbedOptions = {}): Promise<Float32Array> {
    const embedding = this.#last.then(async () => {
      const ids = this.ids(text);
      const y = await this.encoder.run(this.#lookUp(ids), { tokens: ids.length, attention });
      return this.#embedding(y, ids.length, attention);
    });
    this.#last = embedding.catch(() => {});
    return embedding;
  }

  /**
   * Returns a copy of the attention weights of the last embed(text, {attention: true}): [tokens][tokens]. Rows sum to
   * 1.
   */
  attention(layer: number, head: number): Float32Array[] {
    const tokens = this.#capturedTokens;
    if (tokens === 0) throw new LadonError("attention", "no embed(text, {attention: true}) yet");
    return attentionRows(this.encoder, layer, head, tokens);
  }

  /** Frees the memory. Embeddings stay valid. */
  free(): void {
    this.encoder.free();
  }

  // Returns the input of the first layer, [ids][width]: the sums of word, position and type embedding, normalised.
  #lookUp(ids: readonly number[]): Float32Array {
    const width = this.width;
    const word = this.#table("word_embeddings.weight");
    const position = this.#table("position_embeddings.weight");
    const type = this.#table("token_type_embeddings.weight"); // row 0 is for the first sentence, row 1 for a second one
    const weight = this.#floats("LayerNorm.weight");
    const bias = this.#floats("LayerNorm.bias");
    const x = new Float32Array(ids.length * width);
    ids.forEach((id, at) => {
      const token = x.subarray(at * width, (at + 1) * width);
      addRow(token, word, id);
      addRow(token, position, at);
      addRow(token, type, 0);
      normalise(token, weight, bias);
    });
    return x;
  }

  #embedding(y: Float32Array, tokens: number, attention: boolean): Float32Array {
    if (attention) this.#capturedTokens = tokens;
    return this.#pool(y, tokens);
  }

  // Returns the mean of the rows of y, scaled to length 1. The code scales the sum of the rows instead, which has the
  // direction of the mean.
  #pool(y: Float32Array, tokens: number): Float32Array {
    const sum = new Float64Array(this.width);
    for (let at = 0; at < tokens * this.width; ++at) sum[at % this.width]! += y[at]!;
    const length = Math.sqrt(sum.reduce((total, value) => total + value * value, 0));
    if (!(length > 0 && length < Infinity)) {
      throw new LadonError("weights", "the model's output has no direction: the values in the file are damaged");
    }
    return Float32Array.from(sum, (value) => value / length);
  }

  #name(name: string): string {
    return `${this.#prefix}embeddings.${name}`;
  }

  #floats(name: string): Float32Array {
    return this.encoder.weights.tensor(this.#name(name), "float32");
  }

  #table(name: string): Table {
    const values = this.encoder.weights.tensor(this.#name(name));
    return { values, scales: values instanceof Int8Array ? this.#floats(`${name}_scale`) : undefined };
  }

  // Checks the sizes of the embedding tables and of their LayerNorm. `weights.load` checks the tensors of the encoder.
  #checkTables(): void {
    const expect = (name: string, least: number, { length }: ArrayLike<number>) => {
      if (length < least) throw new LadonError("length", `numbers in ${name}`, least, length);
    };
    const expectRows = (name: string, rows: number) => {
      const { values, scales } = this.#table(name);
      expect(name, rows * this.width, values);
      if (scales) expect(`${name}_scale`, rows, scales);
    };
    expectRows("word_embeddings.weight", this.vocabulary.pieces.length);
    expectRows("position_embeddings.weight", this.maxTokens);
    expectRows("token_type_embeddings.weight", 1);
    for (const name of ["LayerNorm.weight", "LayerNorm.bias"]) expect(name, this.width, this.#floats(name));
  }
}

// A table of embeddings, one in each row. If the values are int8, each row has a scale.
interface Table {
  readonly values: ArrayLike<number>;
  readonly scales: Float32Array | undefined;
}

function addRow(token: Float32Array, { values, scales }: Table, row: number): void {
  const scale = scales ? scales[row]! : 1;
  const first = row * token.length;
  for (let i = 0; i < token.length; ++i) token[i]! += scale * values[first + i]!;
}

// Applies LayerNorm to one token. Sums are float64.
function normalise(token: Float32Array, weight: Float32Array, bias: Float32Array): void {
  const mean = token.reduce((sum, value) => sum + value, 0) / token.length;
  const variance = token.reduce((sum, value) => sum + (value - mean) ** 2, 0) / token.length;
  const scale = 1 / Math.sqrt(variance + epsilon);
  for (let i = 0; i < token.length; ++i) token[i] = (token[i]! - mean) * scale * weight[i]! + bias[i]!;
}

/** Returns the cosine of two embeddings of length 1. */
export function similarity(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}
