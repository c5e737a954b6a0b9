const slices = 5;
const least = 3; // milliseconds of a slice, of a clock that may tick in steps of 0.1

/** Milliseconds of `count` calls. */
function timeOfCalls(call: () => void, count: number): number {
  const start = performance.now();
  for (let i = 0; i < count; ++i) call();
  return performance.now() - start;
}

/** A function that is measured: the number of calls in a slice, and the milliseconds of a call in the best slice. */
class Measured {
  best = Infinity;
  #count = 1;

  constructor(private readonly call: () => void) {}

  /** Measures slices until one of them is long enough. */
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
 * Milliseconds of one call of each function: of some slices of calls the best, which nothing else on the machine got
 * into. The functions take turns, so that a slow moment of the machine meets all of them.
 */
export function timesOf(calls: readonly (() => void)[]): number[] {
  const measured = calls.map((call) => new Measured(call));
  for (let slice = 0; slice < slices; ++slice) {
    for (const one of measured) one.measure();
  }
  return measured.map(({ best }) => best);
}

/** Milliseconds of one call. */
export function timeOf(call: () => void): number {
  return timesOf([call])[0]!;
}
