import { shortestTime } from "../src/clock.js";

/** Returns the milliseconds of `count` calls. */
function timeOfCalls(call: () => void, count: number): number {
  const start = performance.now();
  for (let i = 0; i < count; ++i) call();
  return performance.now() - start;
}

/**
 * A function to measure. A slice is `#count` calls, timed together. `best` is the time of a call in the fastest slice,
 * in milliseconds.
 */
class Measured {
  best = Infinity;
  #count = 1;

  constructor(
    private readonly call: () => void,
    private readonly least: number,
  ) {}

  /**
   * Times one slice. If the slice takes less than `least` milliseconds, doubles the number of its calls and times it
   * again.
   */
  measure(): void {
    for (;;) {
      const took = timeOfCalls(this.call, this.#count);
      if (took >= this.least) {
        this.best = Math.min(this.best, took / this.#count);
        return;
      }
      this.#count *= 2;
    }
  }
}

interface Slices {
  /** The number of slices in which each function is measured. */
  readonly slices?: number;
  /** The shortest valid time of a slice in milliseconds. If the clock has long steps, slices are longer. */
  readonly least?: number;
}

/**
 * Returns the milliseconds of one call of each function. The time is that of the fastest slice, because other activity
 * of the machine only adds time. The functions take turns, so that a slow period of the machine affects all functions.
 */
export function timesOf(calls: readonly (() => void)[], { slices = 5, least = 3 }: Slices = {}): number[] {
  const time = shortestTime(least);
  const measured = calls.map((call) => new Measured(call, time));
  for (let slice = 0; slice < slices; ++slice) {
    for (const one of measured) one.measure();
  }
  return measured.map(({ best }) => best);
}

/** Returns the milliseconds of one call. */
export function timeOf(call: () => void): number {
  return timesOf([call])[0]!;
}
