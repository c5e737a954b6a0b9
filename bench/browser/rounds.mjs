// How things are compared: in rounds, each of which runs all of them for a millisecond or so, and the ceiling right
// before and after each. What the clock and the neighbours do happens to all alike; what counts are the medians of the
// rounds' ratios.
import {pause} from "./warm_up.mjs";
import {flopsOf} from "./work.mjs";

/** The value that a part of the others lies below; 0.5 is the median. */
export function quantile(values, part) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.round(part * (sorted.length - 1))];
}

/** Median and quartiles. */
export const spread = values => ({
  median: quantile(values, 0.5), lower: quantile(values, 0.25), upper: quantile(values, 0.75),
});

/**
 * Contestants are {run, repeats, work}. A run may give a promise. `work` is that of one run (work.mjs): flops of
 * different peaks are taken to be done one after the other. For each, of each round: {seconds, ceiling}, those of one
 * run and the flops a second that its peaks allow, measured just before and after.
 */
export async function alternate(contestants, rounds) {
  const results = contestants.map(() => ({seconds: new Float64Array(rounds), ceiling: new Float64Array(rounds)}));
  const secondsOf = run => {
    const start = performance.now();
    run();
    return (performance.now() - start) * 1e-3;
  };
  const ceilingOf = work => flopsOf(work) / work.reduce(
      (sum, {flops, peak}) => sum + flops / peak.flops * secondsOf(peak.run), 0);
  for (let round = 0; round < rounds; ++round) {
    for (const [index, {run, repeats, work}] of contestants.entries()) {
      const before = ceilingOf(work);
      const start = performance.now();
      for (let i = 0; i < repeats; ++i) {
        const promise = run();
        if (promise instanceof Promise) await promise;  // others are not made to wait for one
      }
      results[index].seconds[round] = (performance.now() - start) * 1e-3 / repeats;
      results[index].ceiling[round] = (before + ceilingOf(work)) / 2;
    }
    await pause();
  }
  return results;
}

/** What is reported of one: shares and GFLOP/s. */
export function figures({work}, {seconds, ceiling}) {
  const flops = flopsOf(work);
  return {
    share_of_peak: spread(seconds.map((s, round) => flops / s / ceiling[round])),
    gflops: flops / spread(seconds).median * 1e-9,
    peak_gflops: spread(ceiling).median * 1e-9,
    microseconds: spread(seconds).median * 1e6,
  };
}

/** How many times as fast one is as another. */
export const timesAsFast = (one, other) => spread(one.seconds.map((s, round) => other.seconds[round] / s));

/** How many calls take about so many milliseconds, judged by the fastest of a few. */
export async function repeatsFor(run, milliseconds) {
  for (let repeats = 1;; repeats *= 2) {
    let best = Infinity;
    for (let k = 0; k < 3; ++k) {
      const start = performance.now();
      for (let i = 0; i < repeats; ++i) await run();
      best = Math.min(best, performance.now() - start);
    }
    if (best >= milliseconds / 2) return Math.max(1, Math.round(repeats * milliseconds / best));
  }
}
