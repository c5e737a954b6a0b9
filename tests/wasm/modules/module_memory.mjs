// Loads a module, and places arrays in its memory as a caller does. Each array gets a separate block after __heap_base.
// Guard bytes lie between the blocks, and a call must not change them.
import {readFileSync} from 'node:fs';

import {descriptionOf, readModule} from './module_file.mjs';

const guard = 64;
const poison = 0xa5;

export class Loaded {
  constructor(file) {
    const bytes = readFileSync(file);
    const {exports} = new WebAssembly.Instance(new WebAssembly.Module(bytes));
    this.description = descriptionOf(readModule(bytes));
    this.exports = exports;
    this.at = exports.__heap_base.value;
    this.guards = [];
    this.keepConstants();
  }
  // Saves a copy of the module's constants and variables, which lie below __heap_base. `untouched` compares the memory
  // with this copy. set_activations writes a variable there, so call set_activations before keepConstants.
  keepConstants() {
    this.constants = new Uint8Array(this.exports.memory.buffer).slice(0, this.exports.__heap_base.value);
  }
  // Returns the address of a new piece of memory, filled with NaN.
  take(bytes) {
    const from = Math.ceil(this.at / 64) * 64;
    this.at = from + bytes + guard;
    const missing = this.at - this.exports.memory.buffer.byteLength;
    if (missing > 0) this.exports.memory.grow(Math.ceil(missing / 65536));
    new Uint8Array(this.exports.memory.buffer, from, bytes).fill(0xff);
    new Uint8Array(this.exports.memory.buffer, from + bytes, guard).fill(poison);
    this.guards.push(from + bytes);
    return from;
  }
  floats(values) {
    const from = this.take(4 * values.length);
    this.view(from, values.length).set(values);
    return from;
  }
  words(values) {
    const from = this.take(4 * values.length);
    new Int32Array(this.exports.memory.buffer, from, values.length).set(values);
    return from;
  }
  view(from, count) {
    return new Float32Array(this.exports.memory.buffer, from, count);
  }
  // Returns true if neither the guard bytes between the blocks nor the constants of the module have changed. The
  // module's stack lies below the constants, and is not checked.
  untouched() {
    const memory = new Uint8Array(this.exports.memory.buffer);
    const stack = 65536;
    return this.guards.every((from) => memory.subarray(from, from + guard).every((byte) => byte === poison)) &&
      this.constants.subarray(stack).every((byte, i) => memory[stack + i] === byte);
  }
}

// Returns a generator of numbers between -1 and 1, approximately uniform. Generators with equal seeds return equal
// numbers.
export function randomNumbers(seed) {
  let state = seed;
  return (count, scale = 1) => Float32Array.from({length: count}, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return scale * (state / 2 ** 31 - 1);
  });
}
