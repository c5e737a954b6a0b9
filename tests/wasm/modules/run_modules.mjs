// node run_modules.mjs NAME.VARIANT.wasm...: modules of one kernel, run on the same numbers. All give the numbers of the
// oracle in plain loops where it knows the kind, and each others' within a bound; what DETERMINISTIC makes gives the
// same bits. A wrong call gets a status, and nothing is written.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {basename} from 'node:path';

import '../../../wasm/engine/relaxed_simd.mjs';
import {Loaded, randomNumbers} from './module_memory.mjs';
import {attention} from './oracle.mjs';

const status = {ok: 0, nullInput: 1, nullWeights: 2, nullOutput: 3, nullWorkspace: 4, misaligned: 6, beyond: 7, overlap: 8,
                notCleared: 10};

const size = (extents) => extents.reduce((a, b) => a * b, 1);

// {name: values} of every tensor, in the order of NAME_weights; one for each head where there are several.
function tensorsOf(description, random) {
  const all = description.layer
    ? Array.from({length: description.layers ?? 1}, () => description.layer).flat().concat(description.weights)
    : description.weights;
  return all.flatMap(({name, type, count = 1, shape}) => {
    assert.equal(type, 'float32');
    return Array.from({length: count}, () =>
      ({name, values: random(size(shape), shape.length > 1 ? 1 / Math.sqrt(shape.at(-1)) : 0.5)}));
  });
}

function prepare(file) {
  const loaded = new Loaded(file);
  const {description: d} = loaded;
  const random = randomNumbers(1);
  const tensors = tensorsOf(d, random);
  const x = random(d.queries * d.model);
  const contexts = d.context ? [random(d.keys * d.keyModel), random(d.keys * d.valueModel)] : [];
  const map = d.options.find(({name}) => name === 'attention');
  const maps = map
    ? Array.from({length: map.count ?? 1}, () => loaded.take(4 * size(map.shape))) : [];
  const values = {
    offset: d.keys - d.queries, sinks: () => loaded.floats(random(d.heads)), slopes: () => 0,
    rotary: () => {
      const table = loaded.take(4 * d.rotary.width * d.rotary.positions);
      assert.equal(loaded.exports.rotary_fill(table, 10000, 1), status.ok);
      return table;
    },
  };
  const options = loaded.words(d.options.flatMap(({name}) => {
    if (name === 'attention') return maps;
    const value = values[name] ?? 0;
    return [typeof value === 'function' ? value() : value];
  }));
  return Object.assign(loaded, {
    tensors, numbers: x, options, maps,
    x: loaded.floats(x), y: loaded.take(4 * d.queries * d.model),
    weights: loaded.words(tensors.map(({values: each}) => loaded.floats(each))),
    workspace: loaded.take(d.workspace), cache: loaded.take(d.cache),
    contexts: contexts.slice(0, d.keyModel === d.valueModel ? 1 : 2).map((each) => loaded.floats(each)),
    contextNumbers: contexts,
  });
}

// Each as the C functions take them.
const calls = {
  run: (m, o = {}) => m.exports.run(...[o.x ?? m.x, ...m.contexts, o.weights ?? m.weights, o.y ?? m.y,
                                        o.workspace ?? m.workspace, o.options ?? m.options]),
  extend: (m, o = {}) => m.exports.extend(o.x ?? m.x, m.cache, o.weights ?? m.weights, o.y ?? m.y,
                                          o.workspace ?? m.workspace, o.options ?? m.options),
  attend: (m, o = {}) => m.exports.attend(o.x ?? m.x, m.cache, o.weights ?? m.weights, o.y ?? m.y,
                                          o.workspace ?? m.workspace, o.options ?? m.options),
};

function compute(m) {
  const main = Object.keys(calls).find((each) => m.exports[each]);
  if (m.exports.cache_clear) {
    assert.equal(calls[main](m), status.notCleared);
    assert.equal(m.exports.cache_clear(m.cache), status.ok);
    assert.equal(m.exports.cache_length(m.cache), 0);
  }
  if (main === 'attend') {
    assert.equal(m.exports.project_keys(...m.contexts, m.cache, m.weights, m.workspace, m.options), status.ok);
    assert.equal(m.exports.cache_length(m.cache), m.description.keys);
  }
  assert.equal(calls[main](m), status.ok);
  if (main === 'extend') {
    assert.equal(m.exports.cache_length(m.cache), m.description.queries);
    assert.equal(calls[main](m), status.ok); // again: now there is a past
  }
  const d = m.description;
  return [m.y, ...m.maps].map((from, i) => m.view(from, i === 0 ? d.queries * d.model : d.heads * d.queries * d.keys).slice());
}

function checkStatuses(m) {
  const d = m.description;
  const y = m.view(m.y, d.queries * d.model).fill(7);
  const options = [...new Int32Array(m.exports.memory.buffer, m.options, d.options.length)];
  const lengths = options.slice();
  lengths[0] = (d.options[0].name === 'tokens' ? Math.max(d.queries, d.keys) : d.queries) + 1;
  const main = Object.keys(calls).find((each) => m.exports[each]);
  for (const [changed, expected] of [
    [{x: 0}, status.nullInput], [{weights: 0}, status.nullWeights], [{y: 0}, status.nullOutput],
    [{workspace: 0}, status.nullWorkspace], [{workspace: m.workspace + 4}, status.misaligned],
    [{y: m.workspace}, status.overlap], [{y: m.x + 4}, status.overlap], [{options: m.words(lengths)}, status.beyond],
  ]) {
    assert.equal(calls[main](m, changed), expected, JSON.stringify(changed));
    assert.ok(y.every((each) => each === 7));
  }
}

const furthest = (a, b) => a.reduce((most, each, i) => Math.max(most, Math.abs(each - b[i])), 0);
// Sums of a few dozen products of numbers about 1; the reference holds within a few hundred epsilon.
const bound = 500 * 2 ** -24;

const runnable = process.argv.slice(2).filter((file) => {
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
  const known = attention(m);
  if (known) assert.ok(furthest(result[0], known) <= bound, `${furthest(result[0], known)} from the oracle`);
  first ??= result;
  result.forEach((each, i) => {
    if (m.description.deterministic) assert.deepEqual(each, first[i]);
    else assert.ok(furthest(each, first[i]) <= bound, `${furthest(each, first[i])} from the first`);
    assert.ok(each.every(Number.isFinite) || i > 0);
  });
  checkStatuses(m);
  assert.ok(m.untouched());
  console.log(`${basename(file)}: ok${known ? ', as the oracle says' : ''}`);
}
