// SPDX-License-Identifier: Apache-2.0
import { type Instance, LadonError } from "./core.js";

/** Returns copies of the rows of one head's attention, [queries][keys]. Layers and heads count from 0. */
export const attentionRows = (
  instance: Pick<Instance, "description" | "attention">,
  layer: number,
  head: number,
  queries: number,
  keys: number = queries,
): Float32Array[] => {
  const { heads, layers = 1, queries: mostQueries, keys: mostKeys } = instance.description;
  const check = (what: string, index: number, count: number) => {
    if (!Number.isInteger(index) || index < 0 || index >= count) {
      throw new LadonError("attention", what, `0 to ${count - 1}`, index);
    }
  };
  check("layer", layer, layers);
  check("head", head, heads);
  const maps = instance.attention(layer);
  return Array.from({ length: queries }, (_, query) => {
    const first = (head * mostQueries + query) * mostKeys;
    return maps.slice(first, first + keys);
  });
};
