// The work of a run: how many flops it needs, and which ceiling bounds them.
import {kinds, makePeak, runs} from "../../wasm/engine/peak.mjs";
import {warmUp} from "./warm_up.mjs";

/** {KIND: {float32, int8}}: the peaks of each kind of module that this engine runs, the fastest kind first. */
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

/** The peaks of a kind of module: {float32, int8}. */
export async function peaksOf(kind, milliseconds) {
  const peaks = {};
  for (const precision of ["float32", "int8"]) {
    peaks[precision] = await makePeak(kind, {precision, milliseconds});
    await warmUp(peaks[precision].run, 100);  // where other processes take the core, optimising takes longer
  }
  return peaks;
}

/** A list of {flops, peak}, from {float32: flops, int8: flops} and the peaks of a kind. */
export const workOf = (flops, peaks) => Object.entries(flops).filter(([, count]) => count > 0)
    .map(([precision, count]) => ({flops: count, peak: peaks[precision]}));

/** All flops of such a list. */
export const flopsOf = work => work.reduce((sum, {flops}) => sum + flops, 0);
