import type { Description } from "./description.js";
import { fail } from "./errors.js";
import type { Mask } from "./types.js";

/** What an instance's runs hide. */
export interface Hiding {
  /** Whether `offset`, where it is left out, shows all keys. */
  readonly all: boolean;
  /** Data of masks that were not asked for. */
  readonly refused: ReadonlySet<string>;
}

/**
 * A causal mask whose offset is given at run time is no mask where it shows all keys; one without, a window and ALiBi are
 * part of the code and cannot be left out.
 */
export const hidingOf = ({ mask, options }: Description, wanted?: Mask): Hiding => {
  const free = options.includes("offset") && !/window|alibi/.test(`${mask}`);
  const fixed = mask.filter((one) => /window|alibi/.test(one) || (one === "causal" && !free));
  const chosen: readonly string[] | undefined = wanted && ([] as string[]).concat(wanted).filter((one) => one !== "none");
  if (chosen && (chosen.some((one) => !mask.includes(one)) || fixed.some((one) => !chosen.includes(one)))) {
    fail("mask", "mask", fixed.length ? fixed : ["none", ...mask], wanted);
  }
  const refused = new Set<string>();
  if (chosen && !chosen.includes("padding")) refused.add("padding");
  if (chosen && free && !chosen.includes("causal")) refused.add("offset");
  return { all: free && !chosen?.includes("causal"), refused };
};
