/**
 * Allocates blocks in the memory of a WebAssembly module, from the address __heap_base on. Each block begins at a
 * multiple of 64 bytes.
 */
export class ModuleMemory {
  #memory;
  #top;

  constructor({memory, __heap_base: base}) {
    this.#memory = memory;
    this.#top = base.value;
  }

  /** Allocates `bytes` bytes and returns their address. */
  take(bytes) {
    const place = Math.ceil(this.#top / 64) * 64;
    this.#top = place + bytes;
    const missing = this.#top - this.#memory.buffer.byteLength;
    if (missing > 0) this.#memory.grow(Math.ceil(missing / 65536));
    return place;
  }

  /** Copies a typed array into the memory and returns the address of the copy. */
  put(values) {
    const place = this.take(values.byteLength);
    new values.constructor(this.#memory.buffer, place, values.length).set(values);
    return place;
  }

  /** Calls `use` with the address of a copy of a typed array. Frees the copy afterwards. Returns what `use` returns. */
  lend(values, use) {
    const end = this.#top;
    const result = use(this.put(values));
    this.#top = end;
    return result;
  }
}
