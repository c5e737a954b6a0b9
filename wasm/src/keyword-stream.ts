// SPDX-License-Identifier: Apache-2.0
// Divides a continuous sound into windows, and finds the words that the windows complete.
import { fail } from "./fail.js";
import type { Instance } from "./core.js";
import { type FrontEnd, layerCount, sampleRate, tokenCount, windowLength } from "./keyword-front-end.js";
import { type Label, labels } from "./keyword-labels.js";
import { averagedSamples, WordDetector } from "./word-detector.js";

/** The result of the model for a window of one second. */
export interface Spotting {
  /** The label with the largest probability. */
  readonly label: Label;
  readonly probability: number;
  /** [12]: a probability for each of KeywordSpotter.labels. */
  readonly probabilities: Float32Array;
  /** [12]: a logit for each of KeywordSpotter.labels. */
  readonly logits: Float32Array;
  /**
   * [12][99]: the attention weights of the class token in each of the 12 layers. Element 0 of a row is the weight to
   * the class token itself, and the others are the weights to the 98 frames. A row sums to 1. With `attention: false`,
   * the array is empty.
   */
  readonly attention: readonly Float32Array[];
  /** [98][80]: the spectrogram of the window. Natural logarithms of magnitudes in mel bands, the oldest frame first. */
  readonly bands: Float32Array;
  /**
   * The seconds from the first sample of the sound to the beginning of the window; 0 if the window begins before the
   * first sample.
   */
  readonly start: number;
  /**
   * The time to compute the features and to run the model. `push` computes features only for the frames that are new
   * since the previous window.
   */
  readonly milliseconds: number;
}

export interface SpottedWord {
  readonly label: Label;
  /**
   * The mean of the probabilities of `label` in the last windows, up to the window that completed the word. The number
   * of these windows is half a second divided by the stride, rounded down, but at least 1.
   */
  readonly probability: number;
  /** The seconds from the first sample of the sound to the beginning of the window that completed the word. */
  readonly start: number;
}

/** The result for a window of a continuous sound. */
export interface Hearing extends Spotting {
  /** The word that this window completes. */
  readonly word?: SpottedWord;
}

/** Returns the probabilities of logits. */
const softmax = (logits: Float32Array): Float32Array => {
  const most = Math.max(...logits);
  const powers = logits.map((logit) => Math.exp(logit - most));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
};

/** Runs the model on the features that the front end holds. */
export const spotWindow = (
  frontEnd: FrontEnd,
  encoder: Instance,
  attention: boolean,
): Omit<Spotting, "start" | "milliseconds"> => {
  const logits = frontEnd.logits(encoder.run(frontEnd.x(), { queries: 1, attention }));
  const probabilities = softmax(logits);
  const probability = Math.max(...probabilities);
  const label =
    labels[probabilities.indexOf(probability)] ??
    fail("weights", "the model's output is not a number: the values in the file are damaged");
  // encoder.attention(layer) has a row for each query. Row 0 belongs to the class token, and only this row is copied.
  const rows = attention ? layerCount : 0;
  const maps = Array.from({ length: rows }, (_, layer) => encoder.attention(layer).slice(0, tokenCount));
  return { label, probability, probabilities, logits, attention: maps, bands: frontEnd.bands() };
};

export class KeywordStream {
  /**
   * The number of samples of silence before the sound. With this silence, a word at the beginning of the sound is in as
   * many windows as a word in the middle.
   */
  readonly padding: number;
  readonly #frontEnd: FrontEnd;
  readonly #encoder: Instance;
  readonly #stride: number;
  readonly #detector: WordDetector;
  #taken = 0; // samples so far, including the padding
  #nextEnd = windowLength; // samples from the beginning of the padding to the end of the next window
  #milliseconds = 0; // computation time since the last window

  /** A window begins every `stride` samples. While the stream is used, `frontEnd` must not process another sound. */
  constructor(frontEnd: FrontEnd, encoder: Instance, stride: number) {
    this.#frontEnd = frontEnd;
    this.#encoder = encoder;
    this.#stride = stride;
    this.#detector = new WordDetector(stride);
    this.padding = Math.floor(averagedSamples / stride) * stride;
    frontEnd.restart();
    this.#add(new Float32Array(this.padding));
  }

  /**
   * Processes the next samples. Runs the model on each window of one second that the samples complete, and calls
   * `found` with the result. The argument `position` is the index of the window's first sample. The first sample of the
   * sound has index 0, so `position` is negative if the window begins in the silence before the sound.
   */
  take(samples: Float32Array, attention: boolean, found: (one: Hearing, position: number) => void): void {
    for (let at = 0; at < samples.length;) {
      const part = samples.subarray(at, at + this.#nextEnd - this.#taken);
      const begin = performance.now();
      this.#add(part);
      at += part.length;
      if (this.#taken === this.#nextEnd) {
        const window = spotWindow(this.#frontEnd, this.#encoder, attention);
        this.#milliseconds += performance.now() - begin;
        this.#finish(window, found);
      } else {
        this.#milliseconds += performance.now() - begin;
      }
    }
  }

  #add(samples: Float32Array): void {
    this.#frontEnd.add(samples);
    this.#taken += samples.length;
  }

  #finish(window: ReturnType<typeof spotWindow>, found: (one: Hearing, position: number) => void): void {
    const position = this.#nextEnd - windowLength - this.padding;
    const start = Math.max(position, 0) / sampleRate;
    const detected = this.#detector.add(window.probabilities);
    const word = detected && { ...detected, label: labels[detected.label]!, start };
    found({ ...window, start, milliseconds: this.#milliseconds, word }, position);
    this.#nextEnd += this.#stride;
    this.#milliseconds = 0;
  }
}
