// How a run becomes as fast as the engine makes it.

/** Gives the engine's other threads, and the page, their turn. */
export const pause = (milliseconds = 0) => new Promise(resolve => setTimeout(resolve, milliseconds));

/**
 * Calls, with pauses in which the engine's other threads finish, until two of its spells in a row bring nothing: V8
 * replaces one hot function after the other, and large ones late.
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
