// Reads a date as people write it: an encoder of 42,923 weights that sees up to 40 characters and answers with the
// eight digits of YYYYMMDD, or says that there is no date. As examples/date_reader/reader.cpp.
import { attentionRows } from "./attention-rows.js";
import { type Instance, type Kernel, LadonError, load, type LoadOptions } from "./index.js";
import { readBytes, type Source } from "./read-whole.js";

const longestText = 40; // characters, spaces squeezed
const slots = 8; // one for each digit of YYYYMMDD
const classes = 11; // ten digits and "no date"
const noDateClass = 10;
const firstYear = 1000;
const lastYear = 2999;

export type DateStatus = "date" | "no-date" | "empty" | "too-long" | "not-ascii";

export interface DateReading {
  readonly status: DateStatus;
  /** "2024-02-03", or null where the text is none. */
  readonly date: string | null;
  /** What the model sees of the text: lower case, runs of spaces as one, none at the ends. */
  readonly characters: readonly string[];
  /** The likeliest digit of each place of YYYYMMDD, null for "no date"; nothing where no model ran (status). */
  readonly digits: readonly (number | null)[];
  /** Its probability. */
  readonly certainty: Float32Array;
  /** How much each digit looks at each character: [8][characters]. Layers and heads count from 0. */
  attention(layer: number, head: number): Float32Array[];
  /** How much each digit looks at each of the digits' own places: [8][8]. With the characters' a row sums to 1. */
  attentionToDigits(layer: number, head: number): Float32Array[];
}

export interface DateReaderOptions extends LoadOptions {
  /** Another than the shipped one, "date_reader". */
  readonly kernel?: Kernel;
  /** Another safetensors file than the shipped one. */
  readonly weights?: Source;
}

interface Squeezed {
  readonly status: DateStatus;
  readonly characters: readonly string[];
}

// Status "date" here means that the text may be read.
function squeeze(text: string): Squeezed {
  const characters: string[] = [];
  let gap = false;
  let tooLong = false;
  for (let i = 0; i < text.length; ++i) {
    const c = text.charAt(i);
    if (c >= "\x80") return { status: "not-ascii", characters };
    if (c === " " || (c >= "\t" && c <= "\r")) {
      gap = characters.length > 0;
      continue;
    }
    if (characters.length + (gap ? 2 : 1) > longestText) tooLong = true;
    if (tooLong) continue;
    if (gap) characters.push(" ");
    characters.push(c.toLowerCase());
    gap = false;
  }
  const status = tooLong ? "too-long" : characters.length === 0 ? "empty" : "date";
  return { status, characters };
}

function inCalendar(year: number, month: number, day: number): boolean {
  if (year < firstYear || year > lastYear || month < 1 || month > 12) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day >= 1 && day <= days[month - 1]!;
}

// "2024-02-03" where all digits are there and the calendar has the day.
function isoDate(digits: readonly (number | null)[]): string | null {
  if (digits.includes(null)) return null;
  const number = (first: number, end: number) => digits.slice(first, end).join("");
  const [year, month, day] = [number(0, 4), number(4, 6), number(6, 8)];
  return inCalendar(Number(year), Number(month), Number(day)) ? `${year}-${month}-${day}` : null;
}

export class DateReader {
  readonly layers: number;
  readonly heads: number;
  /** Numbers that the model has learnt: the encoder's and those around it. */
  readonly parameters: number;
  readonly kernel: Kernel;
  /** The kernel with the reader's weights. */
  readonly encoder: Instance;
  readonly #model: number;
  readonly #sureEnough: number;
  readonly #characterIds = new Map<string, number>(); // 0 for all others
  // Copies: small, and no view of memory that may grow.
  readonly #position: Float32Array; // [40][model]
  readonly #slot: Float32Array; // [8][model]
  readonly #character: Float32Array; // [alphabet + 1][model]
  readonly #classifierWeight: Float32Array; // [classes][model]
  readonly #classifierBias: Float32Array; // [classes]

  /** Module and weights are the shipped ones where the options name no others. */
  static async load(options: DateReaderOptions = {}): Promise<DateReader> {
    const shipped = new URL("./models/date_reader.safetensors", import.meta.url);
    const [kernel, file] = await Promise.all([
      options.kernel ?? load("date_reader", { variant: options.variant, signal: options.signal }),
      readBytes(options.weights ?? shipped, options.signal),
    ]);
    const encoder = kernel.create();
    await encoder.weights.load(file, { prefix: "encoder", signal: options.signal });
    const { metadata, parameters } = headerOf(file);
    return new DateReader(kernel, encoder, metadata, parameters);
  }

  private constructor(kernel: Kernel, encoder: Instance, metadata: Record<string, string>, parameters: number) {
    const { alphabet, sure_enough } = metadata;
    if (alphabet === undefined || sure_enough === undefined) {
      throw new LadonError("weights", "__metadata__", ["alphabet", "sure_enough"], Object.keys(metadata));
    }
    const tensor = (name: string) => encoder.weights.tensor(name).slice();
    this.kernel = kernel;
    this.encoder = encoder;
    this.layers = kernel.description.layers!;
    this.heads = kernel.description.heads;
    this.parameters = parameters;
    this.#model = kernel.description.model;
    this.#sureEnough = Math.fround(Number(sure_enough));
    Array.from(alphabet).forEach((c, i) => this.#characterIds.set(c, i + 1));
    this.#position = tensor("position");
    this.#slot = tensor("slot");
    this.#character = tensor("character.weight");
    this.#classifierWeight = tensor("classifier.weight");
    this.#classifierBias = tensor("classifier.bias");
  }

  /**
   * From text to date: squeeze, run the model, choose, and look into the calendar.
   * `attention`: whether the reading can tell what its digits looked at; true where it is left out.
   */
  read(text: string, { attention = true }: { readonly attention?: boolean } = {}): DateReading {
    const { status, characters } = squeeze(text);
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

  /** Gives the memory back; what was read stays good. */
  free(): void {
    this.encoder.free();
  }

  // [layer][head][slot], each [tokens]: copies, so that they stay good when another text is read.
  #maps(tokens: number): Float32Array[][][] {
    const range = (count: number) => Array.from({ length: count }, (_, i) => i);
    return range(this.layers).map((layer) =>
      range(this.heads).map((head) => attentionRows(this.encoder, layer, head, slots, tokens)),
    );
  }

  // The slots first, then the text, which stands at the end of the 40 places, so that a weekday in front of a date
  // moves nothing.
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

  // The likeliest class of each slot, and its share of the softmax. `y` is [slots][model].
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
    const rows = this.maps[layer]?.[head];
    if (!rows) throw new LadonError("attention", `no attention of layer ${layer}, head ${head} of this reading`);
    return rows;
  }
}

// What a safetensors file says beside its tensors, strings by name, and how many numbers there are.
function headerOf(file: Uint8Array): { metadata: Record<string, string>; parameters: number } {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)));
  return { metadata: header.__metadata__ ?? {}, parameters: (file.length - 8 - length) / 4 };
}
