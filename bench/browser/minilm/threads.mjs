// threads.mjs [TOKENS] [WORKERS] [ROUNDS]: how many times as fast several workers compute MiniLM (default: 128 tokens, 2
// workers, 41 rounds) as one thread, in Node. A round has a call of each, in turn. Prints the medians, and the median of
// the ratios. Needs ./dev wasm, and as many idle cores as workers.
import {loadKernel} from "../../../wasm/dist/minilm.js";
import {weightsOf} from "../../../wasm/tests/browsers/checks.mjs";
import {spread} from "../rounds.mjs";

const [tokens = 128, workers = 2, rounds = 41] = process.argv.slice(2).map(Number);
for (const precision of ["float32", "int8"]) {
  const [one, team] = await Promise.all([{precision}, {precision, threads: workers}].map(options => loadKernel(options)));
  const instances = [one.create(), team.create()];
  for (const instance of instances) instance.weights.set(weightsOf(one.description));
  const x = Float32Array.from({length: tokens * one.description.model}, (_, i) => Math.sin(i));
  await Promise.all([one, team].map(kernel => kernel.warmUp({tokens})));
  const times = [[], []];
  for (let round = 0; round < rounds; ++round) {
    for (const [i, instance] of instances.entries()) {
      const start = performance.now();
      await instance.run(x, {tokens});
      times[i].push(performance.now() - start);
    }
  }
  const ratio = spread(times[0].map((time, i) => time / times[1][i])).median;
  const [alone, together] = times.map(list => spread(list).median.toFixed(1));
  console.log(`${precision} ${one.variant}, ${tokens} tokens: ${alone} ms, ${workers} workers ${together} ms, ${ratio.toFixed(2)} times as fast`);
  for (const instance of instances) instance.free();
}
