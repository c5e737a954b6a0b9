// What a module costs before it is fast: V8 compiles a module at once and badly, counts calls and turns of loops, and
// compiles again in another thread what is hot; a function that runs is not replaced before it is called again.
import {moduleOf} from "./measure.mjs";
import {kinds, runs} from "../../wasm/engine/peak.mjs";
import {describe, inputsFor, instantiate} from "./raw_kernel.mjs";
import {quantile} from "./rounds.mjs";
import {pause} from "./warm_up.mjs";

/**
 * Calls report({startup}) for every case and kind, milliseconds: compile, instantiate with all weights copied and the
 * first call; then, from its start on, how long and how many calls until one takes less than 1.1 of what it takes at
 * last; null where calls are shorter than the clock's steps. Of some repeats the best, for what the machine does beside
 * only adds.
 */
export async function measureStartUp(host, {cases, repeats = 7, budget = 600}, report) {
  for (const one of cases) {
    for (const kind of kinds.filter(runs)) {
      if (kind === "scalar" && runs("simd")) continue;
      const bytes = await host.read(moduleOf(one, kind));
      const starts = [];
      for (let i = 0; i < repeats; ++i) starts.push(await startOf(bytes, budget));
      const best = (of, among = starts) => among.length > 0 ? Math.min(...among.map(of)) : null;
      const final_call = best(({durations}) => quantile(durations.slice(durations.length >> 1), 0.1));
      const fast = ({durations}) => durations.findIndex(duration => duration < 1.1 * final_call);
      const reached = starts.filter(start => fast(start) >= 0);
      report({startup: {...one, kind, bytes: bytes.length, milliseconds: {
        compile: best(start => start.compile), first_call: best(start => start.durations[0]),
        to_first_y: best(start => start.to_first_y),
        to_full_speed: best(start => start.begun[fast(start)], reached),
        final_call: final_call || null,
      }, calls_to_full_speed: best(fast, reached)}});
    }
  }
}

async function startOf(bytes, budget) {
  const unseen = withComment(bytes);
  const start = performance.now();
  const module = await WebAssembly.compile(unseen);
  const compile = performance.now() - start;
  const inputs = inputsFor(describe(module));
  const filled = performance.now();
  const kernel = await instantiate(module, inputs);
  const called = performance.now();
  const begun = [0], durations = [kernel.firstCall];
  for (let now = called; now < called + budget || durations.length < 20;) {
    kernel.run();
    const after = performance.now();
    begun.push(now - called + kernel.firstCall);
    durations.push(after - now);
    now = after;
  }
  await pause(10);
  return {compile, to_first_y: compile + called - filled, begun, durations};
}

// A custom section of random bytes: an engine keeps what it made of bytes that it has seen before.
function withComment(bytes) {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return Uint8Array.from([...bytes, 0, 18, 1, "x".charCodeAt(0), ...random]);
}
