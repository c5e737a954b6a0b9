// SPDX-License-Identifier: Apache-2.0
// The logits of growing texts. The caches of the latest text stay in the memory of the module, so that only the tokens
// that are new since the last call are computed (src/import/c_text.cpp).
import type { Block, ModuleMemory } from "./memory.js";
import type { ModelTexts } from "./model-section.js";
import { checkModelStatus } from "./model-status.js";

export class TextCache {
  readonly #memory: ModuleMemory;
  readonly #texts: ModelTexts;
  readonly #text: Block;
  readonly #ids: Block;
  readonly #next: Block;
  #cached: number[] = [];

  constructor(memory: ModuleMemory, texts: ModelTexts) {
    this.#memory = memory;
    this.#texts = texts;
    this.#text = memory.allocate(memory.call("text_bytes"));
    this.#ids = memory.allocate(4 * texts.most);
    this.#next = memory.allocate(4);
  }

  /** Returns a copy of the logits of the token that follows `ids`. */
  logits(ids: readonly number[]): Float32Array {
    const known = this.#cached;
    const continues = known.length > 0 && known.length < ids.length && known.every((id, i) => id === ids[i]);
    this.#cached = []; // a call that fails leaves no text
    if (continues) {
      for (const id of ids.slice(known.length)) this.#call("text_next", id);
    } else {
      // A text that is too long needs no room: the module refuses its length.
      const room = new Int32Array(this.#memory.exports.memory.buffer, this.#ids.at, this.#texts.most);
      room.set(ids.slice(0, this.#texts.most));
      this.#call("text_start", this.#ids.at, ids.length, 0);
    }
    this.#cached = Array.from(ids);
    const at = this.#memory.call("text_logits", this.#text.at);
    return this.#memory.floats(at, this.#texts.vocabulary).slice();
  }

  #call(name: "text_start" | "text_next", ...args: number[]): void {
    checkModelStatus(this.#memory.call(name, ...args, this.#next.at, this.#text.at, 0));
  }
}
