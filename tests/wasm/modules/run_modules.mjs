// node run_modules.mjs NAME.VARIANT.wasm... [digest.txt]: runs the modules of one kernel with the same weights and
// inputs. Each result must agree with that of the first module: it may differ by at most `bound`, or by `int8Bound` for
// int8 and int4 kernels. If oracle.mjs supports the kernel, the result must also agree with oracle.mjs. Modules with
// DETERMINISTIC must give equal bits, whose hash is in digest.txt. A call with wrong arguments must return a status and
// write nothing.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {basename} from 'node:path';
import {setFlagsFromString} from 'node:v8';

import '../../../wasm/engine/relaxed_simd.mjs';
import {Loaded, randomNumbers} from './module_memory.mjs';
import {attention} from './oracle.mjs';

// Node 20 computes relaxed dot products wrongly in unoptimised code. The flag --no-liftoff makes Node compile all code
// with optimisation.
setFlagsFromString('--no-liftoff');

const status = {ok: 0, nullInput: 1, nullWeights: 2, nullOutput: 3, nullWorkspace: 4, misaligned: 6, beyond: 7, overlap: 8,
                notCleared: 10, badNumber: 13, notFinite: 14};

const size = (extents) => extents.reduce((a, b) => a * b, 1);

// Returns random values {name, type, shape, values} for every tensor, in the order of the pointers in the struct
// NAME_weights. If each head has its own matrix, the list has one entry for each head.
function tensorsOf(description, random) {
  const all = description.layer
    ? Array.from({length: description.layers ?? 1}, () => description.layer).flat().concat(description.weights)
    : description.weights;
  // Leaves out scales and row sums, because the module computes both together with the int8 weights.
  return all.filter(({name}) => !/_scale$|_row_sum$/.test(name)).flatMap(({name, type, count = 1, shape: stored, inputs}) => {
    const shape = inputs ? [stored[0], inputs] : stored;
    return Array.from({length: count}, () => {
      const values = random(size(shape), shape.length > 1 ? 1 / Math.sqrt(shape.at(-1)) : 0.5);
      const bits = new Uint32Array(values.buffer);
      if (type === 'bfloat16') bits.forEach((word, i) => { bits[i] = word & 0xffff0000; });
      return {name, type, shape, bytes: size(stored), values};
    });
  });
}

// Copies a tensor into the module's memory, quantised if it is int8 or int4. Returns the pointers for the struct
// NAME_weights: one pointer, or pointers to weights, scales and row sums.
function placeTensor(loaded, {type, shape, bytes, values}) {
  if (type === 'bfloat16') {
    const at = loaded.take(2 * values.length);
    const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
    new Uint16Array(loaded.exports.memory.buffer, at, values.length).set(bits.map((word) => word >>> 16));
    return [at];
  }
  const from = loaded.floats(values);
  if (!['int8', 'int4'].includes(type)) return [from];
  const [rows, columns] = shape;
  const made = [loaded.take(bytes), loaded.take(4 * rows), loaded.take(4 * rows)];
  assert.equal(loaded.exports.quantise_rows(from, rows, columns, ...made), status.ok);
  const sums = loaded.take(4 * rows);
  loaded.exports.sum_rows(made[0], rows, columns, sums);
  const scales = new Float32Array(loaded.exports.memory.buffer, made[1], rows);
  assert.ok(scales.every((scale) => (loaded.description.rotated ? scale < 0 : scale > 0)));
  const integers = (at) => new Int32Array(loaded.exports.memory.buffer, at, rows);
  assert.deepEqual(integers(sums), integers(made[2]));
  return made;
}

function prepare(file) {
  const loaded = new Loaded(file);
  const pages = loaded.exports.memory.buffer.byteLength / 65536;
  assert.equal(loaded.exports.grow_memory(2), pages);
  assert.equal(loaded.exports.memory.buffer.byteLength / 65536, pages + 2);
  assert.equal(loaded.exports.grow_memory(65536), -1);
  // Selects 7 bits for quantised inputs, because all variants then quantise to the same integers.
  const chosen = loaded.exports.set_activations;
  if (chosen) {
    assert.equal(chosen(9, 0), status.badNumber);
    assert.equal(chosen(7, 0), status.ok);
    loaded.keepConstants();
  }
  const {description: d} = loaded;
  const random = randomNumbers(1);
  const tensors = tensorsOf(d, random);
  const numbers = d.arrays.filter(({output}) => !output).map(({shape}) => random(size(shape)));
  const maps = [];
  const values = {
    offset: d.keys - d.queries, sinks: () => loaded.floats(random(d.heads)), slopes: () => 0,
    rotary: () => {
      const table = loaded.take(4 * d.rotary.width * d.rotary.positions);
      assert.equal(loaded.exports.rotary_fill(table, 10000, 1), status.ok);
      return table;
    },
    relative: ({shape}) => {
      const table = loaded.take(4 * size(shape));
      assert.equal(loaded.exports.relative_fill(table, loaded.floats(random(32 * d.heads)), 32, 0, 128), status.ok);
      return table;
    },
  };
  const options = loaded.words(d.options.flatMap((option) => {
    const {name, count = 1, shape, output} = option;
    if (output) {
      const ofOption = Array.from({length: count}, () => ({at: loaded.take(4 * size(shape)), count: size(shape)}));
      maps.push(...ofOption);
      return ofOption.map(({at}) => at);
    }
    const value = values[name.replace('memory.', '')] ?? 0;
    return Array.from({length: count}, () => (typeof value === 'function' ? value(option) : value));
  }));
  // The arguments of the functions, by the names of the parameters.
  const parameters = {
    options, weights: loaded.words(tensors.flatMap((each) => placeTensor(loaded, each))),
    workspace: loaded.take(d.workspace), cache: loaded.take(d.cache), memory_cache: loaded.take(d.memoryCache),
  };
  d.arrays.forEach(({name, shape}, i) => {
    parameters[name] = i < numbers.length ? loaded.floats(numbers[i]) : loaded.take(4 * size(shape));
  });
  const output = d.arrays.at(-1);
  return Object.assign(loaded, {
    tensors, numbers: numbers[0], maps, parameters,
    first: d.arrays[0].name, output: output.name, outputSize: size(output.shape),
    main: ['run', 'extend', 'attend'].find((each) => loaded.exports[each]),
  });
}

// Calls an export of the module `m`. Each member of `changed` replaces the argument of this name, for example x by a
// null pointer.
function call(m, name, changed = {}) {
  const {parameters} = m.description.functions.find((each) => each.name === name);
  return m.exports[name](...parameters.map((each) => changed[each] ?? m.parameters[each]));
}

function compute(m) {
  const {main, description: d} = m;
  if (m.exports.cache_clear) {
    assert.equal(call(m, main), status.notCleared);
    assert.equal(call(m, 'cache_clear'), status.ok);
    assert.equal(call(m, 'cache_length'), 0);
  }
  if (m.exports.project_memory) {
    assert.equal(call(m, main), status.notCleared);
    assert.equal(call(m, 'project_memory'), status.ok);
  }
  if (m.exports.project_keys) {
    assert.equal(call(m, 'project_keys'), status.ok);
    assert.equal(call(m, 'cache_length'), d.keys);
  }
  assert.equal(call(m, main), status.ok);
  if (main === 'extend') {
    assert.equal(call(m, 'cache_length'), d.queries);
    assert.equal(call(m, main), status.ok); // now the cache contains earlier tokens
  }
  return [{at: m.parameters[m.output], count: m.outputSize}, ...m.maps].map(({at, count}) => m.view(at, count).slice());
}

const takes = (m, name) => m.description.functions.find((each) => each.name === m.main).parameters.includes(name);

function checkStatuses(m) {
  const d = m.description;
  const {first, output, parameters} = m;
  const y = m.view(parameters[output], m.outputSize).fill(7);
  const words = d.options.reduce((sum, {count = 1}) => sum + count, 0);
  const options = [...new Int32Array(m.exports.memory.buffer, parameters.options, words)];
  const lengths = options.slice();
  lengths[0] = (d.options[0].name === 'tokens' ? Math.max(d.queries, d.keys) : d.queries) + 1;
  for (const [changed, expected] of [
    ...(m.tensors.length ? [[{weights: 0}, status.nullWeights]] : []),
    ...d.arrays.filter(({name, output: isOutput}) => !isOutput && takes(m, name)).map(({name}) => [{[name]: 0}, status.nullInput]),
    [{[output]: 0}, status.nullOutput],
    [{workspace: 0}, status.nullWorkspace], [{workspace: parameters.workspace + 4}, status.misaligned],
    [{[output]: parameters.workspace}, status.overlap], [{[output]: parameters[first] + 4}, status.overlap],
    [{options: m.words(lengths)}, status.beyond],
    ...(takes(m, 'memory_cache') ? [[{memory_cache: parameters.cache}, status.notCleared]] : []),
  ]) {
    assert.equal(call(m, m.main, changed), expected, JSON.stringify(changed));
    assert.ok(y.every((each) => each === 7));
  }
}

const furthest = (a, b) => a.reduce((most, each, i) => Math.max(most, Math.abs(each - b[i])), 0);
// The largest accepted difference between the elements of two results. The inputs are between -1 and 1. The weights of
// a matrix with n columns are between -1 / sqrt(n) and 1 / sqrt(n), so sums are about as large as the inputs. y is
// computed in several steps, and each step adds a few dozen products. So the error of float32 is at most a few hundred
// units of 2^-24.
const bound = 500 * 2 ** -24;
// Two variants may quantise a feature to neighbouring integers. The outputs then differ by the product of one step of
// quantisation and a weight. The features of a token have a range of about 4, so a step is about 4 / 127. All matrices
// have at least 18 columns, so a weight is at most 1 / sqrt(18). One such feature changes an output by at most about
// 0.0075, and the bound allows two such features.
const int8Bound = 0.02;

// Returns the text of a Fingerprint (tests/support/fingerprint.hpp) for floats without NaN.
const digest = (floats) => [...new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength)]
  .reduce((hash, byte) => BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n), 0xcbf29ce484222325n)
  .toString(16).padStart(16, '0');

// Checks that quantise_rows rejects a weight that is NaN: it must return the status notFinite and write nothing.
function checkQuantise(m) {
  const from = m.floats(Array.from({length: 16}, (_, i) => (i === 9 ? NaN : i)));
  const made = [m.take(16), m.take(8), m.take(8)];
  const before = m.view(made[0], 1)[0];
  assert.equal(m.exports.quantise_rows(from, 2, 8, ...made), status.notFinite);
  assert.ok(Object.is(m.view(made[0], 1)[0], before));
}

const arguments_ = process.argv.slice(2);
const digestFile = arguments_.find((file) => file.endsWith('.txt'));
const runnable = arguments_.filter((file) => file !== digestFile).filter((file) => {
  const runs = WebAssembly.validate(readFileSync(file));
  if (!runs) assert.match(file, /relaxed/);
  return runs;
});
assert.ok(runnable.length >= 2);
let first;
for (const file of runnable) {
  const m = prepare(file);
  const result = compute(m);
  if (!m.exports.extend) assert.deepEqual(compute(Object.assign(m, {exports: {...m.exports, cache_clear: null}})), result);
  assert.ok(m.untouched());
  const isInt8 = ['int8', 'int4'].includes(m.description.precision);
  if (isInt8) checkQuantise(m);
  if (digestFile) assert.equal(digest(result[0]), readFileSync(digestFile, 'utf8').trim());
  const known = isInt8 ? undefined : attention(m);
  if (known) assert.ok(furthest(result[0], known) <= bound, `${furthest(result[0], known)} from the oracle`);
  first ??= result;
  result.forEach((each, i) => {
    if (m.description.deterministic) assert.deepEqual(each, first[i]);
    else assert.ok(furthest(each, first[i]) <= (isInt8 ? int8Bound : bound), `${furthest(each, first[i])} from the first`);
    assert.ok(each.every(Number.isFinite) || i > 0);
  });
  checkStatuses(m);
  assert.ok(m.untouched());
  console.log(`${basename(file)}: ok${known ? ', as the oracle says' : ''}`);
}
