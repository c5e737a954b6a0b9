// How things are compared: in rounds, each of which runs all of them once, for about a millisecond each, so that what
// the clock and the neighbours do happens to all alike; what counts are the medians of the rounds' ratios.

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
 * Seconds of each contestant in each round: times[contestant][round]. A contestant is {run(), repeats}: `run` is one
 * call, and may give a promise (`awaits` says so: others are not made to wait for one).
 */
export async function alternate(contestants, rounds, {now = () => performance.now(), pause = null} = {}) {
  const times = contestants.map(() => new Float64Array(rounds));
  for (let round = 0; round < rounds; ++round) {
    for (const [index, {run, repeats, awaits}] of contestants.entries()) {
      const start = now();
      if (awaits) for (let i = 0; i < repeats; ++i) await run();
      else for (let i = 0; i < repeats; ++i) run();
      times[index][round] = (now() - start) * 1e-3 / repeats;
    }
    if (pause) await pause();
  }
  return times;
}

/** How many calls take about so many milliseconds, judged by the fastest of a few. */
export async function repeatsFor(run, milliseconds, now = () => performance.now()) {
  let repeats = 1;
  for (;;) {
    let best = Infinity;
    for (let k = 0; k < 3; ++k) {
      const start = now();
      for (let i = 0; i < repeats; ++i) await run();
      best = Math.min(best, now() - start);
    }
    if (best >= milliseconds / 2) return Math.max(1, Math.round(repeats * milliseconds / best));
    repeats *= 2;
  }
}
