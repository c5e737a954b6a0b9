// SPDX-License-Identifier: Apache-2.0
// KWT-1 (Berg, O'Connor and Cruz, Interspeech 2021) spots ten words in a second of sound. The C++ program is
// examples/keywords.
import { checkKernel, checkLoaded, checkOptions } from "./check.js";
import { fail } from "./fail.js";
import { type CompiledModule, type Instance, type Kernel, load, type LoadOptions } from "./core.js";
import {
  FrontEnd,
  frameStep,
  layerCount,
  loadFrontEnd,
  modelWidth,
  sampleRate,
  tokenCount,
  windowLength,
} from "./keyword-front-end.js";
import { type Hearing, KeywordStream, type SpottedWord, type Spotting, spotWindow } from "./keyword-stream.js";
import { type Label, labels } from "./keyword-labels.js";
import type { Source, WeightsSource } from "./types.js";
import { firstWord } from "./word-detector.js";

export type { Label } from "./keyword-labels.js";
export type { Hearing, SpottedWord, Spotting } from "./keyword-stream.js";
export { Microphone, type MicrophoneOptions } from "./microphone.js";

/** Loads the kernel of the model, without weights. Errors: those of `load`. */
export const loadKernel = (options: LoadOptions = {}): Promise<Kernel> =>
  load(
    (variant) =>
      options.precision === "int8"
        ? new URL(`./modules/keywords_int8.${variant}.wasm`, import.meta.url)
        : new URL(`./modules/keywords.${variant}.wasm`, import.meta.url),
    options,
  );

export interface KeywordSpotterOptions extends LoadOptions {
  /** The kernel. The default is that of `loadKernel`. */
  readonly kernel?: Kernel;
  /** The module keywords_front_end. The default is the shipped module. */
  readonly frontEnd?: Source | CompiledModule;
  /** A safetensors file of KWT-1 with the tensor names that examples/keywords/tflite_to_safetensors.py writes. */
  readonly weights: WeightsSource;
  /** Called when bytes of the weights arrive, with the number of bytes so far and the number of bytes of the file. */
  readonly progress?: (bytes: number, total: number) => void;
  /**
   * The milliseconds from the beginning of a window to the beginning of the next. Must be a multiple of 10, from 10 to
   * 1000. The default is 100. `push` uses the stride for every sound, and `spot` for sounds of more than a second.
   */
  readonly stride?: number;
}

export interface SoundOptions {
  /** The sample rate of the sound. Only 16000 is accepted, which is the default. */
  readonly sampleRate?: number;
  /** True if the results contain the attention of the class token. The default is true. */
  readonly attention?: boolean;
}

/** The result for a sound of any length. */
export interface SoundSpotting extends Spotting {
  /** The words of a sound of more than a second. Empty for a shorter sound. */
  readonly words: readonly SpottedWord[];
}

export class KeywordSpotter {
  static readonly labels: readonly Label[] = labels;
  static readonly sampleRate: number = sampleRate;
  readonly kernel: Kernel;
  /** The kernel with the model's weights. */
  readonly encoder: Instance;
  readonly #stride: number; // samples
  readonly #module: WebAssembly.Module;
  readonly #frontEnd: FrontEnd; // the front end of `spot`
  #stream: KeywordStream | undefined; // the stream of `push`

  static async load(options: KeywordSpotterOptions): Promise<KeywordSpotter> {
    const ofKernel = ["variant", "precision", "activationBits"];
    checkOptions(options, ["kernel", "frontEnd", "weights", "progress", "stride", "signal", ...ofKernel]);
    const { weights, progress, variant, precision, activationBits, signal } = options;
    const stride = strideOf(options.stride);
    const kernel = options.kernel ?? (await loadKernel({ variant, precision, activationBits, signal }));
    checkShape(kernel);
    const module = await loadFrontEnd(options.frontEnd, kernel.variant, signal);
    const encoder = kernel.create();
    try {
      await encoder.weights.load(weights, { progress, signal });
      return new KeywordSpotter(kernel, encoder, module, stride);
    } catch (error) {
      encoder.free();
      throw error;
    }
  }

  private constructor(kernel: Kernel, encoder: Instance, module: WebAssembly.Module, stride: number) {
    checkLoaded("KeywordSpotter", encoder);
    this.kernel = kernel;
    this.encoder = encoder;
    this.#module = module;
    this.#stride = stride;
    this.#frontEnd = new FrontEnd(module, encoder);
  }

  /**
   * Spots the words of a whole sound. `samples` are floats from -1 to 1, at 16 kHz, of one channel. A sound of less
   * than a second is padded with zeros. A longer sound is divided into windows of a second, which begin every `stride`
   * milliseconds. `words` has the words of all windows. The other members of the result describe the window with the
   * likeliest word. The call does not affect `push`.
   */
  spot(samples: Float32Array, options: SoundOptions = {}): SoundSpotting {
    const { attention } = checkSound(samples, options);
    if (samples.length === 0) fail("length", "number of samples", "at least 1", 0);
    this.#frontEnd.restart();
    return samples.length > windowLength ? this.#spotLong(samples, attention) : this.#spotWindow(samples, attention);
  }

  /**
   * Processes the next samples of a continuous sound. `samples` can have any length. Returns a result for each window
   * of a second that these samples complete. The stream begins with silence, which lasts half a second at the default
   * stride. So the first window is complete after half a second of sound, and each further window `stride` milliseconds
   * later. Features are computed once for each frame.
   */
  push(samples: Float32Array, options: SoundOptions = {}): Hearing[] {
    const { attention } = checkSound(samples, options);
    this.#stream ??= this.#newStream(new FrontEnd(this.#module, this.encoder));
    const found: Hearing[] = [];
    this.#stream.take(samples, attention, (one) => found.push(one));
    return found;
  }

  /** Drops the sound of `push`. The next `push` begins a new sound. */
  clear(): void {
    this.#stream = undefined;
  }

  /** Frees the memory. Results stay valid. */
  free(): void {
    this.#stream = undefined;
    this.encoder.free();
  }

  #newStream(frontEnd: FrontEnd): KeywordStream {
    return new KeywordStream(frontEnd, this.encoder, this.#stride);
  }

  #spotWindow(samples: Float32Array, attention: boolean): SoundSpotting {
    const begin = performance.now();
    this.#frontEnd.add(samples);
    this.#frontEnd.add(new Float32Array(windowLength - samples.length));
    const found = spotWindow(this.#frontEnd, this.encoder, attention);
    return { ...found, start: 0, milliseconds: performance.now() - begin, words: [] };
  }

  #spotLong(samples: Float32Array, attention: boolean): SoundSpotting {
    const stream = this.#newStream(this.#frontEnd);
    const words: SpottedWord[] = [];
    let best: Spotting | undefined;
    const found = ({ word, ...window }: Hearing, position: number) => {
      if (word) words.push(word);
      const isInside = position >= 0 && position + windowLength < samples.length + this.#stride;
      if (isInside && !(best && wordProbability(window) <= wordProbability(best))) best = window;
    };
    stream.take(samples, attention, found);
    // Adds silence after the sound, so that a word at the end is in as many windows as a word in the middle.
    stream.take(new Float32Array(stream.padding + this.#stride - 1), attention, found);
    return { ...best!, words };
  }
}

const wordProbability = ({ probabilities }: Spotting): number => Math.max(...probabilities.subarray(firstWord));

/** Returns the stride in samples. */
const strideOf = (milliseconds: any = 100): number => {
  const stride = (milliseconds * sampleRate) / 1000;
  const isMultiple = typeof milliseconds === "number" && Number.isInteger(stride / frameStep);
  if (isMultiple && stride > 0 && stride <= sampleRate) return stride;
  return fail("option", "stride", "a multiple of 10 from 10 to 1000", milliseconds);
};

const checkShape = (kernel: Kernel): void => {
  checkKernel(kernel);
  const { queries, model, layers } = kernel.description;
  const expected = { queries: tokenCount, model: modelWidth, layers: layerCount };
  if (queries !== expected.queries || model !== expected.model || layers !== expected.layers) {
    fail("option", "kernel", expected, { queries, model, layers });
  }
};

const checkSound = (samples: unknown, options: SoundOptions): { attention: boolean } => {
  checkOptions(options, ["sampleRate", "attention"]);
  const { sampleRate: rate = sampleRate, attention = true } = options;
  if (rate !== sampleRate) fail("option", "sampleRate", sampleRate, rate);
  if (!(samples instanceof Float32Array)) return fail("option", "samples", "a Float32Array", samples);
  // A fast test for NaN and infinity: 0 times NaN or infinity is NaN. So the sum of 0 * sample is 0 only if all samples
  // are finite.
  let sum = 0;
  for (let i = 0; i < samples.length; ++i) sum += 0 * samples[i]!;
  if (sum !== 0) {
    const at = samples.findIndex((sample) => !Number.isFinite(sample));
    fail("option", `sample ${at}`, "a finite number", samples[at]);
  }
  return { attention };
};
