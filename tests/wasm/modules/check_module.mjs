// node check_module.mjs NAME.h NAME.VARIANT.wasm: what is in the file is what its name and the C header say.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {basename} from 'node:path';
import {gzipSync} from 'node:zlib';

import {descriptionOf, readModule} from './module_file.mjs';

const [headerFile, file, mostGzipped] = process.argv.slice(2);
const header = readFileSync(headerFile, 'utf8');
const bytes = readFileSync(file);
const [name, variant] = basename(file).split('.');
const found = readModule(bytes);
const description = descriptionOf(found);

// What it takes and gives.
assert.equal(found.imports, 0);
const functions = [...header.matchAll(new RegExp(`^(?:ladon_status|size_t) ${name}_(\\w+)\\(`, 'gm'))]
  .map(([, each]) => each).filter((each) => each !== 'run' && each !== 'run_phase')
  .map((each) => `function ${each === 'run_with' ? 'run' : each}`);
assert.ok(functions.length > 0);
const stored = header.includes(`${name}_stored_weights`) ? ['global stored_weights'] : [];
assert.deepEqual([...found.exports].sort(), [...functions, ...stored, 'global __heap_base', 'memory memory'].sort());
assert.equal(found.memories.length, 1);
assert.equal(found.memories[0].most, Infinity);
assert.deepEqual([...found.sections.keys()], ['ladon']);

// Its instructions. One relaxed one, and an engine without them refuses the module.
const {counts} = found;
if (variant === 'scalar') {
  assert.equal(counts.vector + counts.relaxed + counts.newer, 0);
} else {
  assert.ok(counts.vector > 100, `${counts.vector} vector instructions`);
  if (variant === 'simd') assert.equal(counts.relaxed, 0);
  else assert.ok(counts.relaxed > 10, `${counts.relaxed} relaxed instructions`);
}

// Its description.
const constant = (each) => Number(header.match(new RegExp(`^#define ${name.toUpperCase()}_${each} (\\d+)$`, 'm'))?.[1]);
assert.equal(description.ladon, 1);
assert.equal(description.version, header.match(/_LADON_VERSION "(.*)"/)[1]);
assert.equal(description.name, name);
assert.equal(description.variant, variant);
for (const [member, each] of Object.entries({queries: 'QUERIES', keys: 'KEYS', model: 'MODEL', heads: 'HEADS',
    kvHeads: 'KV_HEADS', headWidth: 'HEAD_WIDTH', valueWidth: 'VALUE_WIDTH', keyModel: 'KEY_MODEL',
    valueModel: 'VALUE_MODEL'})) {
  assert.equal(description[member], constant(each), member);
}
for (const [member, each] of Object.entries({feedForward: 'FEED_FORWARD', layers: 'LAYERS'})) {
  assert.equal(description[member] ?? NaN, constant(each), member);
}
assert.ok(description.workspace > 0 && description.workspace % 64 === 0);
assert.equal(description.cache > 0, functions.includes('function cache_clear'));
assert.ok(header.includes(`\n *   ${description.arguments}\n`));

// Its structs: the header's members in the header's order, with the extents that its comments say.
const members = (struct) =>
  [...header.match(new RegExp(`typedef struct ${name}_${struct} \\{\\n([^}]*)\\}`))[1].matchAll(/^ +(.*);(?: \/\* (.*) \*\/)?$/gm)]
    .map(([, declaration, comment]) => ({type: declaration, member: declaration.match(/\w+(\[\d+\])?$/)[0], comment}));
const tensors = (struct) => members(struct).flatMap(({type, member, comment}) => {
  if (member === 'attention') return tensors('attention_weights').map(([each, ...rest]) => [`attention.${each}`, ...rest]);
  if (type.includes('_layer_weights')) return [];
  const extents = comment.match(/[^[\]]+/g).map((each) => each.split(' + ').reduce((a, b) => a + Number(b), 0));
  return [[member, ...extents]];
});
if (description.kind === 'encoder') {
  assert.deepEqual(description.layer, tensors('layer_weights'));
  assert.deepEqual(description.weights, tensors('weights'));
} else {
  assert.deepEqual(description.kind === 'encoder_layer' ? description.layer : description.weights, tensors('weights'));
}
assert.deepEqual(description.options, members('options').map(({member}) => member.replace(/\[.*/, '')));
assert.equal(description.capture !== 'none', description.options.includes('attention'));

const gzipped = gzipSync(bytes, {level: 9}).length;
console.log(`${basename(file)}: ${bytes.length} bytes, ${gzipped} gzipped; vector ${counts.vector}, relaxed ${counts.relaxed}`);
if (mostGzipped) assert.ok(gzipped <= Number(mostGzipped), `${gzipped} bytes gzipped, and at most ${mostGzipped} are wanted`);
