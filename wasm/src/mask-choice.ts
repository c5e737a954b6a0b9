// SPDX-License-Identifier: Apache-2.0
import type { Description } from "./description.js";
import { fail } from "./fail.js";
import type { Mask } from "./types.js";

/** The masks that an instance uses. */
export interface MaskChoice {
  /** Throws "mask" if a run has data of a mask that the instance was created without. */
  check(given: Record<string, any>): void;
  /** Returns the default of the option `offset`, for a run of `queries` queries and `keys` keys. */
  defaultOffset(queries: number, keys: number): number;
}

/**
 * Checks and applies the option `mask` of create(). Two masks of a kernel can be switched off. The padding mask hides
 * no key in a run without `padding`. A causal mask with an offset at run time hides no key if the offset is at least
 * the number of keys. All other masks are compiled into the kernel.
 */
export const chooseMask = ({ mask, options: all }: Description, wanted?: Mask): MaskChoice => {
  const options = all.filter(({ name }) => !name.startsWith("memory."));
  const offset = options.find(({ name }) => name === "offset");
  const isCausalOptional = offset?.masks?.every((one) => one === "causal") ?? false;
  const required = isCausalOptional ? [] : mask.filter((one) => one !== "padding");
  const chosen: readonly string[] | undefined = wanted === undefined ? undefined : [wanted].flat();
  if (chosen) {
    const possible = chosen.length > 1 ? mask : ["none", ...mask];
    const isPossible = chosen.every((one) => possible.includes(one)) && required.every((one) => chosen.includes(one));
    if (!isPossible) fail("mask", "mask", required.length ? required : possible, wanted);
  }
  const isOff = (masks: readonly string[] = []): boolean =>
    chosen !== undefined && masks.length > 0 && !masks.some((one) => chosen.includes(one));
  return {
    check(given) {
      for (const { name, masks } of options) {
        if (given[name] !== undefined && isOff(masks)) fail("mask", `mask for ${name}`, masks, wanted);
      }
    },
    defaultOffset: (queries, keys) => (isCausalOptional && !chosen?.includes("causal") ? keys : keys - queries),
  };
};
