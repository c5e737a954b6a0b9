// SPDX-License-Identifier: Apache-2.0
// Chooses the next token from logits. The C++ functions are in include/ladon/model/sampling.hpp.
import { checkCount, checkNumber } from "./check.js";
import { fail } from "./fail.js";

export interface SamplingOptions {
  /** 0, the default, takes the likeliest token. Larger temperatures make unlikely tokens likelier. */
  readonly temperature?: number;
  /** Takes one of the k likeliest tokens. */
  readonly topK?: number;
  /** Takes one of the likeliest tokens whose probabilities add up to this number. */
  readonly topP?: number;
  /** Equal seeds give equal texts. The default is a random number. */
  readonly seed?: number;
}

/** Returns a function with random numbers from 0 to 1, 1 excluded (mulberry32). */
const randomOf = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Not a token: no logit is a number above -Infinity. */
export const noToken = -1;

/** Returns the index of the largest logit, the first of equal logits. Skips NaN and -Infinity. */
const likeliest = (logits: Float32Array): number => {
  let [found, largest] = [noToken, -Infinity];
  for (let i = 0; i < logits.length; ++i) if (logits[i]! > largest) [found, largest] = [i, logits[i]!];
  return found;
};

const checkSampling = ({ temperature = 0, topK = 1, topP = 1, seed = 0 }: SamplingOptions): void => {
  const isTemperature = checkNumber("temperature", temperature) >= 0 && temperature < Infinity;
  if (!isTemperature) fail("option", "temperature", "a number of at least 0", temperature);
  if (!(checkNumber("topP", topP) > 0 && topP <= 1)) fail("option", "topP", "a number above 0, at most 1", topP);
  checkCount("topK", topK, 2 ** 31, 1);
  checkCount("seed", seed, 2 ** 32 - 1);
};

/**
 * Keeps the topK largest weights, and of these the fewest of the largest that sum to topP of their sum. All others become
 * 0. Of equal weights, the first are kept. Returns the sum of the kept weights. Sorting the numbers of a typed array is
 * several times as fast as sorting the ids of tokens.
 */
const keepLargest = (weights: Float64Array, topK: number, topP: number): number => {
  const sorted = weights.slice().sort().reverse().subarray(0, topK);
  const enough = topP * sorted.reduce((a, b) => a + b, 0);
  let [kept, sum] = [0, 0];
  while (kept < sorted.length && sum < enough) sum += sorted[kept++]!;
  const least = sorted[kept - 1]!;
  let equal = kept - sorted.indexOf(least);
  weights.forEach((weight, id) => {
    if (weight < least || (weight === least && equal-- <= 0)) weights[id] = 0;
  });
  return sum;
};

/** Returns a function that chooses a token from logits, or noToken. It never chooses a logit that is NaN or -Infinity. */
export const samplerOf = (options: SamplingOptions): ((logits: Float32Array) => number) => {
  checkSampling(options);
  const { temperature = 0, topK = Infinity, topP = 1, seed = Math.floor(2 ** 32 * Math.random()) } = options;
  if (temperature === 0) return likeliest;
  const random = randomOf(seed);
  return (logits) => {
    const best = likeliest(logits);
    if (best === noToken || logits[best] === Infinity) return best;
    const weights = Float64Array.from(logits, (value) => Math.exp((value - logits[best]!) / temperature) || 0); // NaN: 0
    const isCut = topK < weights.length || topP < 1;
    let rest = random() * (isCut ? keepLargest(weights, topK, topP) : weights.reduce((a, b) => a + b, 0));
    const chosen = weights.findIndex((weight) => (rest -= weight) < 0);
    return chosen < 0 ? best : chosen; // after roundings, `rest` may stay at 0
  };
};
