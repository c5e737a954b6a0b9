// Runs the benchmark in a worker, so that painting the page does not slow the measured calls.
import { makePeak, runs } from "../engine/peak.mjs";
import { type Instance, load } from "../src/index.js";
import { type BenchmarkMessage, type BenchmarkShape, type Cell, shapes, type Variant } from "./benchmark-messages.js";

const rounds = 7;
const batch = 6; // milliseconds of a timed series of calls; the clock can have steps of 0.1 ms

const say = (message: BenchmarkMessage) => self.postMessage(message);

/**
 * Returns the number of floating-point operations of one call. Counts the projections, and the scores and weighted sums
 * of the visible pairs of query and key.
 */
function flops({ tokens, model }: BenchmarkShape, causal: boolean): number {
  const pairs = causal ? (tokens * (tokens + 1)) / 2 : tokens ** 2;
  return 8 * tokens * model ** 2 + 4 * pairs * model;
}

function random(length: number, range: number): Float32Array {
  return Float32Array.from({ length }, () => (2 * Math.random() - 1) * range);
}

function setWeights(instance: Instance, model: number): void {
  const range = Math.sqrt(3 / model); // numbers in [-range, range]: a linear map keeps the variance of its inputs
  instance.weights.set({
    in_proj_weight: random(3 * model ** 2, range),
    in_proj_bias: random(3 * model, 0.1),
    "out_proj.weight": random(model ** 2, range),
    "out_proj.bias": random(model, 0.1),
  });
}

/**
 * Returns the number of calls for one measurement. That many calls take at least `batch` milliseconds now. They may
 * take less time later, because the engine may have optimised the code.
 */
function callsOf(call: () => void): number {
  for (let calls = 1; ; calls *= 2) {
    const start = performance.now();
    for (let i = 0; i < calls; ++i) call();
    if (performance.now() - start >= batch) return calls;
  }
}

async function measure(shape: number, variant: Variant, peak: Awaited<ReturnType<typeof makePeak>>): Promise<Cell> {
  const { tokens, model, kernel: name } = shapes[shape]!;
  const kernel = await load(name, { variant });
  await kernel.warmUp();
  const x = random(tokens * model, 1);
  const callOf = (mask: "none" | "causal") => {
    const instance = kernel.create({ mask });
    setWeights(instance, model);
    const run = () => void instance.run(x, { tokens });
    return { run, calls: callsOf(run), flops: flops(shapes[shape]!, mask === "causal"), best: 0, instance };
  };
  const full = callOf("none");
  const causal = callOf("causal");
  const ceiling = { run: () => peak.run(), calls: callsOf(() => peak.run()), flops: peak.flops, best: 0 };
  // Each round measures the ceiling, attention without a mask, and attention with a causal mask, so that a slow period
  // of the machine affects all three. Only the fastest round counts, because other activity of the machine only adds
  // time.
  for (let round = 0; round < rounds; ++round) {
    for (const one of [ceiling, full, causal]) {
      const start = performance.now();
      for (let i = 0; i < one.calls; ++i) one.run();
      one.best = Math.max(one.best, (one.calls * one.flops * 1e-6) / (performance.now() - start));
    }
  }
  full.instance.free();
  causal.instance.free();
  return { shape, variant, full: full.best, causal: causal.best, ceiling: ceiling.best };
}

async function measureAll(): Promise<void> {
  const variants = (["relaxed", "simd", "scalar"] as const).filter((variant) => runs(variant));
  for (const variant of variants) {
    const peak = await makePeak(variant, { milliseconds: batch });
    for (let shape = 0; shape < shapes.length; ++shape) {
      say({ begins: shape, variant });
      say({ cell: await measure(shape, variant, peak) });
    }
  }
  say({ done: true });
}

measureAll().catch((problem) => say({ problem: problem instanceof Error ? problem.message : String(problem) }));
