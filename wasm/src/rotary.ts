// SPDX-License-Identifier: Apache-2.0
import { checkCount, checkNumber, checkOptions } from "./check.js";
import type { ModuleMemory } from "./memory.js";
import { checkStatus } from "./status.js";

/** The table of cosines and sines of a kernel with a rotary embedding. */
export class RotaryTable {
  readonly at: number;
  readonly #memory: ModuleMemory;
  readonly #positions: number;
  #content = "";

  constructor(memory: ModuleMemory, { positions, width }: { readonly positions: number; readonly width: number }) {
    this.#memory = memory;
    this.#positions = positions;
    this.at = memory.allocate(4 * positions * width).at;
  }

  /**
   * Fills the table for the option `rotary` of a run: `given` is {base, scaling, offset}. Does nothing if the table
   * already belongs to this base and scaling. Returns the offset.
   */
  prepare(given: any): number {
    checkOptions(given ?? {}, ["base", "scaling", "offset"]);
    const { base = 1e4, scaling = 1, offset = 0 } = given ?? {};
    checkCount("rotary.offset", offset, this.#positions);
    const content = `${checkNumber("rotary.base", base)} ${checkNumber("rotary.scaling", scaling)}`;
    if (this.#content !== content) checkStatus(this.#memory.call("rotary_fill", this.at, base, scaling));
    this.#content = content;
    return offset;
  }
}
