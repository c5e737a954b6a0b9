import type { Description } from "./description.js";
import { fail } from "./fail.js";
import type { Mask } from "./types.js";

/** The masks that an instance uses. */
export interface MaskChoice {
  /** Throws "mask" if a run has data of a mask that the instance was created without. */
  check(given: Record<string, any>): void;
  /** Returns the offset of a run that does not give one. */
  defaultOffset(queries: number, keys: number): number;
}

/**
 * Chooses masks for create({ mask }). Two masks can be left out: padding, by giving no bytes; and a causal mask whose
 * offset is given at run time, by an offset at which each query sees all keys. Every other mask is part of the code.
 */
export const chooseMask = ({ mask, options }: Description, wanted?: Mask): MaskChoice => {
  // Another mask without an array of its own, such as a window or ALiBi, uses the offset, too.
  const hasArray = (one: string): boolean => options.some(({ name, shape }) => shape && one.startsWith(name));
  const isCausalOptional =
    options.some(({ name }) => name === "offset") && mask.every((one) => one === "causal" || hasArray(one));
  const required = isCausalOptional ? [] : mask.filter((one) => one !== "padding");
  const chosen: readonly string[] | undefined = wanted === undefined ? undefined : [wanted].flat();
  if (chosen) {
    const possible = chosen.length > 1 ? mask : ["none", ...mask];
    const isPossible = chosen.every((one) => possible.includes(one)) && required.every((one) => chosen.includes(one));
    if (!isPossible) fail("mask", "mask", required.length ? required : possible, wanted);
  }
  const isOff = (one: string): boolean => chosen !== undefined && !chosen.includes(one);
  return {
    check(given) {
      const checkOne = (option: string, one: string): void => {
        if (given[option] !== undefined && isOff(one)) fail("mask", `mask for ${option}`, one, wanted);
      };
      checkOne("padding", "padding");
      if (isCausalOptional) checkOne("offset", "causal");
    },
    defaultOffset: (queries, keys) => (isCausalOptional && !chosen?.includes("causal") ? keys : keys - queries),
  };
};
