// Compares contestants, such as packages, in rounds. A round runs each contestant for about a millisecond. The round
// also measures the peak rate of the engine, before and after each contestant. So other processes and changes of the
// clock rate affect all contestants alike. Each result is the median of the ratios of all rounds, such as the speed of
// a contestant relative to the peak.
import {pause} from "./warm_up.mjs";
import {flopsOf} from "./work.mjs";

/** Returns the quantile `part` of the values: 0.5 gives the median, and 0.25 the lower quartile. */
export function quantile(values, part) {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.round(part * (sorted.length - 1))];
}

/** Returns the median and the quartiles of an array of values. */
export const spread = values => ({
  median: quantile(values, 0.5), lower: quantile(values, 0.25), upper: quantile(values, 0.75),
});

/**
 * Measures contestants {run, repeats, work} in rounds. run() may return a promise. `work` lists the flops of one run
 * (work.mjs). Returns {seconds, ceiling} for each contestant, both arrays with an entry for each round. `seconds` is
 * the time of one run. `ceiling` is the highest possible flops per second, from the peaks measured before and after the
 * run. If a run has float32 and int8 flops, `ceiling` assumes that the engine computes the two kinds one after another.
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
        if (promise instanceof Promise) await promise;  // a synchronous run must not wait
      }
      results[index].seconds[round] = (performance.now() - start) * 1e-3 / repeats;
      results[index].ceiling[round] = (before + ceilingOf(work)) / 2;
    }
    await pause();
  }
  return results;
}

/** Returns the figures of one contestant for the report: the share of the peak, GFLOP/s, and microseconds. */
export function figures({work}, {seconds, ceiling}) {
  const flops = flopsOf(work);
  return {
    share_of_peak: spread(seconds.map((s, round) => flops / s / ceiling[round])),
    gflops: flops / spread(seconds).median * 1e-9,
    peak_gflops: spread(ceiling).median * 1e-9,
    microseconds: spread(seconds).median * 1e6,
  };
}

/**
 * Compares the speed of `one` with the speed of `other`. The ratio of a round is the time of `other` divided by the
 * time of `one`. Returns the median and the quartiles of these ratios.
 */
export const timesAsFast = (one, other) => spread(one.seconds.map((s, round) => other.seconds[round] / s));

/** Returns how many calls of `run` take about `milliseconds`, estimated from the fastest of three trials. */
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
