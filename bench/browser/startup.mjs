// Measures the time until a module is fast. V8 first compiles a module quickly, without optimisation. V8 counts calls
// and iterations of loops, and recompiles hot functions in another thread. A running function stays slow until its next
// call.
import {moduleOf} from "./measure.mjs";
import {kinds, runs} from "../../wasm/engine/peak.mjs";
import {describe, inputsFor, instantiate} from "./raw_kernel.mjs";
import {quantile} from "./rounds.mjs";
import {pause} from "./warm_up.mjs";

/**
 * Calls report({startup}) for every case and kind of module, but omits scalar modules if the engine has SIMD. All times
 * are in milliseconds. `compile` is the time of compilation, and `first_call` the time of the first call. `to_first_y`
 * is the time of compilation, instantiation with all weights, and the first call together. `to_full_speed` is the time
 * from the start of the first call until a call takes less than 1.1 times as long as the optimised code.
 * `calls_to_full_speed` is the number of calls in this time. `to_full_speed` and `calls_to_full_speed` are null if a
 * call is shorter than the resolution of the clock. Each figure is the minimum of several starts, because other
 * activity of the machine only adds time.
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

// Appends a custom section with random bytes, so that the engine does not find the module in its cache of compiled
// code.
function withComment(bytes) {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return Uint8Array.from([...bytes, 0, 18, 1, "x".charCodeAt(0), ...random]);
}
