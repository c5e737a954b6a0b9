// Runs the benchmark in a worker, so that painting the page does not slow the measured calls.
import { makePeak } from "../engine/peak.mjs";
import { shortestTime } from "../src/clock.js";
import { type Instance, load } from "../src/index.js";
import { supports } from "../src/variants.js";
import { type BenchmarkMessage, type BenchmarkShape, type Cell, shapes, type Variant } from "./benchmark-messages.js";
import { timesOf } from "./timing.js";

const rounds = 7;
const batch = 6; // milliseconds of a timed series of calls, if the steps of the clock are short

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

async function measure(shape: number, variant: Variant, peak: Awaited<ReturnType<typeof makePeak>>): Promise<Cell> {
  const { tokens, model, kernel: name } = shapes[shape]!;
  const kernel = await load(name, { variant });
  await kernel.warmUp();
  const x = random(tokens * model, 1);
  const instances = (["none", "causal"] as const).map((mask) => kernel.create({ mask }));
  for (const instance of instances) setWeights(instance, model);
  const attend = instances.map((instance) => () => void instance.run(x, { tokens }));
  const times = timesOf([() => peak.run(), ...attend], { slices: rounds, least: batch });
  for (const instance of instances) instance.free();
  const flopsOf = [peak.flops, flops(shapes[shape]!, false), flops(shapes[shape]!, true)];
  const [ceiling, full, causal] = times.map((milliseconds, i) => (flopsOf[i]! * 1e-6) / milliseconds);
  return { shape, variant, full: full!, causal: causal!, ceiling: ceiling! };
}

async function measureAll(): Promise<void> {
  const variants = (["relaxed", "simd", "scalar"] as const).filter((variant) => supports(variant));
  for (const variant of variants) {
    const peak = await makePeak(variant, { milliseconds: shortestTime(batch) });
    for (let shape = 0; shape < shapes.length; ++shape) {
      say({ begins: shape, variant });
      say({ cell: await measure(shape, variant, peak) });
    }
  }
  say({ done: true });
}

measureAll().catch((problem) => say({ problem: problem instanceof Error ? problem.message : String(problem) }));
