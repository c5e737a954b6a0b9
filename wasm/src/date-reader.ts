// SPDX-License-Identifier: Apache-2.0
// Reads a date as people write it. An encoder of 42,923 weights reads up to 40 characters and returns the eight digits
// of YYYYMMDD, or "no date". The C++ program is examples/date_reader/reader.cpp.
import { attentionRows } from "./attention-rows.js";
import { checkKernel, checkLoaded, checkOptions, checkText } from "./check.js";
import { type DateStatus, isoDate, longestText, squeeze } from "./date-text.js";
import { type Instance, type Kernel, LadonError, load, type LoadOptions } from "./core.js";
import { addressOf, readBytes } from "./read.js";
import type { Source } from "./types.js";

export type { DateStatus } from "./date-text.js";

const slots = 8; // one for each digit of YYYYMMDD
const classes = 11; // ten digits and "no date"
const noDateClass = 10;

/** Loads the kernel of the model, without weights. Errors: those of `load`. */
export const loadKernel = (options: Omit<LoadOptions, "precision" | "activationBits"> = {}): Promise<Kernel> =>
  load((variant) => new URL(`./modules/date_reader.${variant}.wasm`, import.meta.url), options);

export interface DateReading {
  readonly status: DateStatus;
  /** The date, such as "2024-02-03"; null if the text is not a date. */
  readonly date: string | null;
  /** The text that the model read: lower case, runs of spaces as one space, no spaces at the ends. */
  readonly characters: readonly string[];
  /**
   * The eight likeliest digits of YYYYMMDD. A digit is null if "no date" is likelier. Empty if the model did not run
   * (see `status`).
   */
  readonly digits: readonly (number | null)[];
  /** The probability of each entry of `digits`. */
  readonly certainty: Float32Array;
  /** Returns the attention of the eight digits to the characters, [8][characters]. Layers and heads count from 0. */
  attention(layer: number, head: number): Float32Array[];
  /**
   * Returns the attention of the eight digits to each other and to themselves, [8][8]. Row i of this array and row i of
   * attention(layer, head) together sum to 1.
   */
  attentionToDigits(layer: number, head: number): Float32Array[];
}

export interface DateReaderOptions extends Pick<LoadOptions, "variant" | "signal"> {
  /** The kernel. The default is that of `loadKernel`. */
  readonly kernel?: Kernel;
  /** A safetensors file. The default is the shipped file. */
  readonly weights?: Source;
}

export class DateReader {
  readonly layers: number;
  readonly heads: number;
  /** The number of weights of the encoder, the embeddings and the classifier. */
  readonly parameters: number;
  readonly kernel: Kernel;
  /** The kernel with the reader's weights. */
  readonly encoder: Instance;
  readonly #model: number;
  readonly #sureEnough: number;
  readonly #characterIds = new Map<string, number>(); // other characters have the id 0
  // These arrays are copies of tensors in the encoder's memory. Views would become empty when the memory grows.
  readonly #position: Float32Array; // [40][model]
  readonly #slot: Float32Array; // [8][model]
  readonly #character: Float32Array; // [alphabet + 1][model]
  readonly #classifierWeight: Float32Array; // [classes][model]
  readonly #classifierBias: Float32Array; // [classes]

  /** Loads the kernel and the weights. */
  static async load(options: DateReaderOptions = {}): Promise<DateReader> {
    checkOptions(options, ["kernel", "weights", "variant", "signal"]);
    const shipped = () => addressOf(() => new URL("./models/date_reader.safetensors", import.meta.url));
    const [kernel, file] = await Promise.all([
      options.kernel ?? loadKernel({ variant: options.variant, signal: options.signal }),
      readBytes(options.weights ?? shipped(), options.signal),
    ]);
    checkKernel(kernel);
    const encoder = kernel.create();
    await encoder.weights.load(file, { prefix: "encoder", signal: options.signal });
    const { metadata, parameters } = headerOf(file);
    return new DateReader(kernel, encoder, metadata, parameters);
  }

  private constructor(kernel: Kernel, encoder: Instance, metadata: Record<string, unknown>, parameters: number) {
    checkLoaded("DateReader", encoder);
    const { alphabet, sure_enough } = metadata;
    const sureEnough = Number(sure_enough);
    if (typeof alphabet !== "string" || typeof sure_enough !== "string" || Number.isNaN(sureEnough)) {
      const expected = "the texts alphabet and sure_enough, a number";
      throw new LadonError("weights", "__metadata__", expected, Object.entries(metadata));
    }
    this.kernel = kernel;
    this.encoder = encoder;
    this.layers = kernel.description.layers!;
    this.heads = kernel.description.heads;
    this.parameters = parameters;
    this.#model = kernel.description.model;
    this.#sureEnough = Math.fround(sureEnough);
    const characters = Array.from(alphabet);
    characters.forEach((c, i) => this.#characterIds.set(c, i + 1));
    const table = (name: string, rows: number, width = this.#model) => copyOf(encoder, name, rows * width);
    this.#position = table("position", longestText);
    this.#slot = table("slot", slots);
    this.#character = table("character.weight", characters.length + 1);
    this.#classifierWeight = table("classifier.weight", classes);
    this.#classifierBias = table("classifier.bias", classes, 1);
  }

  /**
   * Reads a date. By default, the reading contains the attention of its digits. With `attention: false`, the methods
   * attention() and attentionToDigits() of the reading have no rows to return.
   */
  read(text: string, { attention = true }: { readonly attention?: boolean } = {}): DateReading {
    const { status, characters } = squeeze(checkText("text", text));
    if (status !== "date") return new Reading(status, characters);
    const y = this.encoder.run(this.#embed(characters), {
      queries: slots,
      keys: slots + characters.length,
      attention,
    });
    const { digits, certainty } = this.#choose(y);
    const sure = certainty.every((share) => share >= this.#sureEnough);
    const date = sure ? isoDate(digits) : null;
    const maps = attention ? this.#maps(slots + characters.length) : [];
    return new Reading(date === null ? "no-date" : "date", characters, date, digits, certainty, maps);
  }

  /** Frees the memory. Readings stay valid. */
  free(): void {
    this.encoder.free();
  }

  // Returns copies of the attention weights of the last run, as [layer][head][slot][token]. A slot is a digit of the
  // date. With copies, a reading stays valid when another text is read.
  #maps(tokens: number): Float32Array[][][] {
    const range = (count: number) => Array.from({ length: count }, (_, i) => i);
    return range(this.layers).map((layer) =>
      range(this.heads).map((head) => attentionRows(this.encoder, layer, head, slots, tokens)),
    );
  }

  // Returns the input of the encoder: the embeddings of the eight slots, and then those of the characters. Positions
  // count from the end of the text: the last character always has the last of 40 positions. So a weekday in front of a
  // date does not change the positions of the date's characters.
  #embed(characters: readonly string[]): Float32Array {
    const model = this.#model;
    const x = new Float32Array((slots + characters.length) * model);
    x.set(this.#slot);
    const firstPlace = longestText - characters.length;
    const [embeddings, positions] = [this.#character, this.#position];
    characters.forEach((c, at) => {
      const character = (this.#characterIds.get(c) ?? 0) * model;
      const place = (firstPlace + at) * model;
      const token = (slots + at) * model;
      for (let i = 0; i < model; ++i) x[token + i] = embeddings[character + i]! + positions[place + i]!;
    });
    return x;
  }

  // Returns the likeliest class of each slot and its probability by softmax. `y` is [slots][model].
  #choose(y: Float32Array): { digits: (number | null)[]; certainty: Float32Array } {
    const digits: (number | null)[] = [];
    const certainty = new Float32Array(slots);
    for (let s = 0; s < slots; ++s) {
      const logits = this.#classify(y, s);
      const largest = Math.max(...logits);
      const likeliest = logits.indexOf(largest);
      digits.push(likeliest === noDateClass ? null : likeliest);
      certainty[s] = 1 / logits.reduce((sum, logit) => sum + Math.exp(logit - largest), 0);
    }
    return { digits, certainty };
  }

  #classify(y: Float32Array, slot: number): number[] {
    const model = this.#model;
    const weight = this.#classifierWeight;
    const logits: number[] = [];
    for (let c = 0; c < classes; ++c) {
      let sum = this.#classifierBias[c]!;
      for (let i = 0; i < model; ++i) sum += y[slot * model + i]! * weight[c * model + i]!;
      logits.push(sum);
    }
    return logits;
  }
}

class Reading implements DateReading {
  constructor(
    readonly status: DateStatus,
    readonly characters: readonly string[],
    readonly date: string | null = null,
    readonly digits: readonly (number | null)[] = [],
    readonly certainty: Float32Array = new Float32Array(0),
    private readonly maps: Float32Array[][][] = [],
  ) {}

  attention(layer: number, head: number): Float32Array[] {
    return this.#rows(layer, head).map((row) => row.subarray(slots));
  }

  attentionToDigits(layer: number, head: number): Float32Array[] {
    return this.#rows(layer, head).map((row) => row.subarray(0, slots));
  }

  #rows(layer: number, head: number): Float32Array[] {
    const rows = [layer, head].every(Number.isInteger) && this.maps[layer]?.[head];
    if (!rows) throw new LadonError("attention", "attention of this reading", "a layer and a head", [layer, head]);
    return rows;
  }
}

// Returns a copy of a tensor. Throws "length" if the tensor is of another size.
function copyOf(encoder: Instance, name: string, size: number): Float32Array {
  const tensor = encoder.weights.tensor(name, "float32").slice();
  if (tensor.length === size) return tensor;
  throw new LadonError("length", `numbers in ${name}`, size, tensor.length);
}

// Returns the member `__metadata__` of the header of a safetensors file, and the number of float32 weights in the file.
function headerOf(file: Uint8Array): { metadata: Record<string, unknown>; parameters: number } {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)));
  return { metadata: header.__metadata__ ?? {}, parameters: (file.length - 8 - length) / 4 };
}
