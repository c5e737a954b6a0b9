// Describes the work of a run: the flops that the run needs, and the measured peaks that limit these flops.
import {kinds, makePeak, runs} from "../../wasm/engine/peak.mjs";
import {warmUp} from "./warm_up.mjs";

/** Returns {KIND: {float32, int8}}: the peaks of each kind of module that this engine runs, the fastest kind first. */
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
 * Makes the loops that measure the peaks of a kind of module, and warms the loops up. Returns {float32, int8}, each a
 * result of makePeak.
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
 * Returns [{flops, peak}, ...] with an entry for each precision whose count in `flops` is not 0. `peaks` is a result of
 * peaksOf.
 */
export const workOf = (flops, peaks) => Object.entries(flops).filter(([, count]) => count > 0)
    .map(([precision, count]) => ({flops: count, peak: peaks[precision]}));

/** Returns the flops of `work`, a list that workOf returned. */
export const flopsOf = work => work.reduce((sum, {flops}) => sum + flops, 0);
