const slices = 5;
const least = 3; // milliseconds of a slice, of a clock that may tick in steps of 0.1

/** Milliseconds of one call: of some slices of calls the best, which nothing else on the machine got into. */
export function timeOf(call: () => void): number {
  let best = Infinity;
  let calls = 1;
  for (let slice = 0; slice < slices;) {
    const start = performance.now();
    for (let i = 0; i < calls; ++i) call();
    const took = performance.now() - start;
    if (took < least) {
      calls *= 2;
    } else {
      best = Math.min(best, took / calls);
      ++slice;
    }
  }
  return best;
}
