// Describes how much work a measured run does: its flops, and the measured peak rates that limit it.
import {kinds, makePeak, runs} from "../../wasm/engine/peak.mjs";
import {warmUp} from "./warm_up.mjs";

/**
 * Measures the peaks of each kind of module that this engine runs. Returns {relaxed, simd, scalar}, and each member is
 * {float32, int8}. Kinds that the engine does not run are missing.
 */
export async function makePeaks(milliseconds, report) {
  const peaks = {};
  for (const kind of kinds) {
    if (!runs(kind)) {
      report({message: `this engine does not run ${kind} modules`});
      continue;
    }
    peaks[kind] = await peaksOf(kind, milliseconds);
  }
  return peaks;
}

/**
 * Makes the loops that measure the peak rates of a kind of module, and runs them until the engine has optimised them.
 * Returns {float32, int8}. Each member is a result of makePeak.
 */
export async function peaksOf(kind, milliseconds) {
  const peaks = {};
  for (const precision of ["float32", "int8"]) {
    peaks[precision] = await makePeak(kind, {precision, milliseconds});
    await warmUp(peaks[precision].run, 100);  // other processes may delay the optimisation
  }
  return peaks;
}

/**
 * Returns a list of {flops, peak}: an entry for the float32 flops, and an entry for the int8 flops. Leaves out a
 * precision without flops. The argument `flops` is {float32, int8}, and `peaks` is a result of peaksOf.
 */
export const workOf = (flops, peaks) => Object.entries(flops).filter(([, count]) => count > 0)
    .map(([precision, count]) => ({flops: count, peak: peaks[precision]}));

/** Returns the sum of all flops in `work`, which workOf returned. */
export const flopsOf = work => work.reduce((sum, {flops}) => sum + flops, 0);
