// SPDX-License-Identifier: Apache-2.0
// Chooses how an int8 or int4 kernel quantises the inputs of its matrix products: to 7 or 8 bits, signed or unsigned.
import type { Description } from "./description.js";
import { isIntegerType } from "./element-types.js";
import { fail, failFor } from "./fail.js";
import type { RelaxedDot } from "./relaxed-dot.js";

export interface Activations {
  readonly bits: 7 | 8;
  /**
   * True if the engine's relaxed dot product reads quantised inputs as signed bytes. The kernel then quantises to
   * signed bytes.
   */
  readonly isSigned: boolean;
}

/**
 * Tests how the engine computes relaxed dot products. Later calls return the first result. The engine must support
 * relaxed SIMD.
 */
export const relaxedDot = async (): Promise<RelaxedDot> => {
  const probe = await import("./relaxed-dot.js").catch((cause) => failFor("network", cause));
  return probe.relaxedDot();
};

export const usesRelaxedDot = ({ precision, variant }: Description): boolean =>
  isIntegerType(precision) && variant === "relaxed";

/**
 * Chooses the format to which an int8 or int4 kernel quantises the inputs of its products. By default, the inputs have 8 bits
 * if both the module and the engine support 8 bits, and 7 bits otherwise. `wanted` is the number of bits that the
 * caller asks for. Throws "unsupported" if the module or the engine does not support `wanted`, or if the engine
 * computes wrong relaxed dot products.
 */
export const chooseActivations = async (description: Description, wanted?: 7 | 8): Promise<Activations> => {
  const dot = usesRelaxedDot(description) ? await relaxedDot() : "unsigned";
  if (dot === "wrong") fail("unsupported", "relaxed dot products of this engine (other variants do not use them)", "exact sums", "wrong sums");
  const most = dot === "saturating" ? 7 : description.activationBits!;
  const bits = wanted ?? most;
  if (bits > most) {
    fail("unsupported", `activationBits of ${description.name}.${description.variant} in this engine`, most, bits);
  }
  return { bits, isSigned: dot === "signed" };
};
