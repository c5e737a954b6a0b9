// The number of slices in which each function is measured. A slice is several calls of a function, timed together.
const slices = 5;
const least = 3; // the shortest valid time of a slice in milliseconds; the resolution of the clock can be 0.1 ms

/** Returns the milliseconds of `count` calls. */
function timeOfCalls(call: () => void, count: number): number {
  const start = performance.now();
  for (let i = 0; i < count; ++i) call();
  return performance.now() - start;
}

/**
 * A function to measure. `#count` is the number of calls in a slice. `best` is the time of a call in the fastest slice,
 * in milliseconds.
 */
class Measured {
  best = Infinity;
  #count = 1;

  constructor(private readonly call: () => void) {}

  /**
   * Times one slice. If the slice takes less than `least` milliseconds, doubles the number of its calls and times it
   * again.
   */
  measure(): void {
    for (;;) {
      const took = timeOfCalls(this.call, this.#count);
      if (took >= least) {
        this.best = Math.min(this.best, took / this.#count);
        return;
      }
      this.#count *= 2;
    }
  }
}

/**
 * Returns the milliseconds of one call of each function. The time is that of the fastest slice, because other activity
 * of the machine only adds time. The functions take turns, so that a slow period of the machine affects all functions.
 */
export function timesOf(calls: readonly (() => void)[]): number[] {
  const measured = calls.map((call) => new Measured(call));
  for (let slice = 0; slice < slices; ++slice) {
    for (const one of measured) one.measure();
  }
  return measured.map(({ best }) => best);
}

/** Returns the milliseconds of one call. */
export function timeOf(call: () => void): number {
  return timesOf([call])[0]!;
}
