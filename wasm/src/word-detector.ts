// SPDX-License-Identifier: Apache-2.0
// Finds words in the probabilities of overlapping windows. The rule and the constants are those of WordDetector in
// examples/keywords/words.hpp.

import { sampleRate, windowLength } from "./keyword-front-end.js";

/**
 * Half a second, in samples. The probabilities of a word are averaged over averagedSamples / stride windows (rounded
 * down), but over at least one.
 */
export const averagedSamples: number = sampleRate / 2;
const threshold = 0.6;
const suppressed = sampleRate / 2;
/** The index of the first word. The labels 0 and 1, _silence_ and _unknown_, are not words. */
export const firstWord = 2;

/** A word, and its average probability, which has reached the threshold. */
export interface DetectedWord {
  /** Index of the label. */
  readonly label: number;
  readonly probability: number;
}

/**
 * Averages the probabilities over half a second, and reports the word with the largest average if the average is at
 * least 0.6. Then reports nothing for half a second. Reports the same word again only after its average was below 0.6,
 * or after a second.
 */
export class WordDetector {
  readonly #stride: number;
  readonly #most: number;
  #recent: Float32Array[] = [];
  #sinceReport = windowLength;
  #reported = -1;

  /** `stride` is the number of samples from one window to the next. */
  constructor(stride: number) {
    this.#stride = stride;
    this.#most = Math.max(Math.floor(averagedSamples / stride), 1);
  }

  /** Adds the probabilities of the next window. Returns the word that the window completes, or undefined. */
  add(probabilities: Float32Array): DetectedWord | undefined {
    this.#recent = [...this.#recent, probabilities].slice(-this.#most);
    this.#sinceReport += this.#stride;
    // At the beginning of a sound, fewer than `#most` windows exist. The missing windows count as zeros, so the sum is
    // always divided by `#most`.
    const averageOf = (label: number) => this.#recent.reduce((sum, one) => sum + one[label]!, 0) / this.#most;
    const averages = Array.from(probabilities, (_, label) => averageOf(label));
    const probability = Math.max(...averages.slice(firstWord));
    const label = averages.indexOf(probability, firstWord);
    if (this.#reported >= 0 && averages[this.#reported]! < threshold) this.#reported = -1;
    const pause = label === this.#reported ? windowLength : suppressed;
    if (probability < threshold || this.#sinceReport < pause) return undefined;
    this.#reported = label;
    this.#sinceReport = 0;
    return { label, probability };
  }
}
