// Runs a function until the engine has optimised the function.

/** Waits, so that the engine's other threads, such as the compiler's, can work. */
export const pause = (milliseconds = 0) => new Promise(resolve => setTimeout(resolve, milliseconds));

/**
 * Calls `run` in periods of `spell` milliseconds. Stops after `most` periods, or after two periods in a row without an
 * improvement: in such a period, no call is at least 5% faster than the fastest earlier call. After a single such
 * period, V8 may still optimise more functions, because V8 optimises hot functions one after another, and large
 * functions late. Pauses between the calls let the engine's compiler threads finish.
 */
export async function warmUp(run, spell = 400, most = 15) {
  let best = Infinity;
  for (let spells = 0, idle = 0; idle < 2 && spells < most; ++spells) {
    let fastest = Infinity;
    for (const end = performance.now() + spell; performance.now() < end; await pause(2)) {
      const next = performance.now() + 10;
      let start = performance.now();
      do {
        await run();
        const now = performance.now();
        fastest = Math.min(fastest, now - start);
        start = now;
      } while (start < next);
    }
    idle = fastest > 0.95 * best ? idle + 1 : 0;
    best = Math.min(best, fastest);
  }
}
