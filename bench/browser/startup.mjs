// What a module costs before it is fast: V8 compiles a module at once and badly, counts calls and turns of loops, and
// compiles again in another thread what is hot; a function that runs is not replaced before it is called again.
import {moduleOf} from "./measure.mjs";
import {kinds, runs} from "./peak.mjs";
import {describe, inputsFor, instantiate} from "./raw_kernel.mjs";
import {pause, quantile} from "./rounds.mjs";

/** Calls report({startup}) for every case and kind: medians of some repeats. */
export async function measureStartUp(host, {cases, repeats = 5, budget = 1500}, report) {
  for (const one of cases) {
    for (const kind of kinds.filter(runs)) {
      if (kind === "scalar" && runs("simd")) continue;
      const bytes = await host.read(moduleOf(one, kind));
      const times = [];
      for (let i = 0; i < repeats; ++i) times.push(await startOf(bytes, budget));
      const median = name => quantile(times.map(each => each[name]), 0.5);
      report({startup: {...one, kind, bytes: bytes.length,
                        milliseconds: Object.fromEntries(Object.keys(times[0]).map(name => [name, median(name)]))}});
    }
  }
}

/** Milliseconds: compile, instantiate with all weights copied, first call; then, from the first call's start on. */
async function startOf(bytes, budget) {
  const unseen = withComment(bytes);
  const begun = performance.now();
  const module = await WebAssembly.compile(unseen);
  const compiled = performance.now();
  const inputs = inputsFor(describe(module));
  const filled = performance.now();
  const kernel = await instantiate(module, inputs);
  const called = performance.now();
  const starts = [-kernel.firstCall], durations = [kernel.firstCall];
  for (let now = called; now < called + budget || durations.length < 30;) {
    kernel.run();
    const after = performance.now();
    starts.push(now - called);
    durations.push(after - now);
    now = after;
  }
  await pause(10);
  // The fastest of five calls in a row: what the machine does beside only ever adds.
  const running = durations.map((_, i) => Math.min(...durations.slice(i, i + 5)));
  const final = quantile(running.slice(running.length >> 1), 0.25);
  const lastSlow = running.findLastIndex((time, i) => time > 1.1 * final && i < running.length >> 1);
  return {
    compile: compiled - begun,
    first_call: kernel.firstCall,
    to_first_y: compiled - begun + called - filled,
    to_full_speed: starts[lastSlow + 1] + kernel.firstCall,
    final_call: final,
  };
}

// A custom section of random bytes: an engine keeps what it made of bytes that it has seen before.
function withComment(bytes) {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return Uint8Array.from([...bytes, 0, 18, 1, "x".charCodeAt(0), ...random]);
}
