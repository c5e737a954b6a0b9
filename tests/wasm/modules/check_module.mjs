// node check_module.mjs NAME.h NAME.VARIANT.wasm... [MOST_GZIPPED]: checks that each module agrees with its file name and
// with the C header.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {basename} from 'node:path';
import {gzipSync} from 'node:zlib';

import {descriptionOf, readModule} from './module_file.mjs';

const [headerFile, ...others] = process.argv.slice(2);
const mostGzipped = others.find((each) => !each.endsWith('.wasm'));
const header = readFileSync(headerFile, 'utf8');

function check(file) {
  const bytes = readFileSync(file);
  const [name, variant] = basename(file).split('.');
  const found = readModule(bytes);
  const description = descriptionOf(found);

  // Checks that the module imports nothing and exports the functions of the header. NAME_run_with is exported as `run`.
  assert.equal(found.imports, 0);
  const libraryOnly = ['run', 'run_phase', 'extend_phase', 'quantise'];
  const declared = [...header.matchAll(new RegExp(`^(?:LADON_CHECK_STATUS )?(?:ladon_status|size_t) ${name}_(\\w+)\\(([^)]*)\\);`, 'gm'))]
    .filter(([, each]) => !libraryOnly.includes(each))
    .map(([, each, parameters]) => ({name: each === 'run_with' ? 'run' : each,
                                    parameters: parameters.split(', ').map((one) => one.match(/\w+$/)[0])}));
  const functions = declared.map((each) => `function ${each.name}`);
  assert.ok(functions.length > 0);
  const isInt8 = ['int8', 'int4'].includes(description.precision);
  // An int8 or int4 module exports quantise_rows and sum_rows instead of `quantise`. A module with 8-bit activations also exports
  // set_activations, because relaxed dot products of 8 bits differ between engines.
  const ofInt8 = ['quantise_rows', 'sum_rows', ...(description.activationBits === 8 ? ['set_activations'] : [])];
  functions.push('function grow_memory');
  if (isInt8) functions.push(...ofInt8.map((each) => `function ${each}`));
  const stored = header.includes(`${name}_stored_weights`) ? ['global stored_weights'] : [];
  assert.deepEqual([...found.exports].sort(), [...functions, ...stored, 'global __heap_base', 'memory memory'].sort());
  assert.equal(found.memories.length, 1);
  assert.equal(found.memories[0].most, Infinity);
  const [, initialMemory] = /INITIAL_MEMORY (\d+)/.exec(description.arguments) ?? [];
  if (initialMemory) assert.equal(found.memories[0].pages, Math.ceil(initialMemory / 65536));
  assert.deepEqual([...found.sections.keys()], ['ladon']);

  // Checks that the module has the instructions of its variant and no others. A single relaxed instruction in a module of
  // another variant would make an engine without relaxed SIMD reject the module.
  const {counts} = found;
  if (variant === 'scalar') {
    assert.equal(counts.vector + counts.relaxed + counts.newer, 0);
  } else {
    assert.ok(counts.vector > 100, `${counts.vector} vector instructions`);
    if (variant === 'simd') assert.equal(counts.relaxed, 0);
    else assert.ok(counts.relaxed > 10, `${counts.relaxed} relaxed instructions`);
    assert.equal(counts.relaxedInteger > 0, variant === 'relaxed' && isInt8);
    // A deterministic module has no relaxed float instructions, because engines round these instructions differently.
    if (description.deterministic) assert.equal(counts.relaxed, counts.relaxedInteger);
  }

  // Checks the description of the module against the constants of the header.
  const constant = (each) => Number(header.match(new RegExp(`^#define ${name.toUpperCase()}_${each} (\\d+)$`, 'm'))?.[1]);
  assert.equal(description.ladon, 6);
  assert.equal(isInt8, header.includes(`${name}_quantise(`));
  assert.equal(description.activationBits !== undefined, isInt8);
  assert.equal(description.version, header.match(/_LADON_VERSION "(.*)"/)[1]);
  assert.equal(description.name, name);
  assert.equal(description.variant, variant);
  for (const [member, each] of Object.entries({queries: 'QUERIES', keys: 'KEYS', model: 'MODEL', heads: 'HEADS',
      kvHeads: 'KV_HEADS', headWidth: 'HEAD_WIDTH', valueWidth: 'VALUE_WIDTH', keyModel: 'KEY_MODEL',
      valueModel: 'VALUE_MODEL'})) {
    assert.equal(description[member], constant(each), member);
  }
  for (const [member, each] of Object.entries({feedForward: 'FEED_FORWARD', layers: 'LAYERS', memory: 'MEMORY'})) {
    assert.equal(description[member] ?? NaN, constant(each), member);
  }
  assert.ok(description.workspace > 0 && description.workspace % 64 === 0);
  assert.equal(description.cache > 0, functions.includes('function cache_clear'));
  assert.equal(description.memoryCache > 0, functions.includes('function project_memory'));
  assert.ok(header.includes(`\n *   ${description.arguments}\n`));

  // Compares the structs in the module's description with the structs in the C header. Members must have the same order
  // and types. For arrays, the description must have the extents in the comments of the header, such as [queries][keys].
  const cTypes = {'size_t ': 'size', 'ptrdiff_t ': 'offset', 'const uint8_t *': 'uint8', 'const uint16_t *': 'bfloat16',
                  'const uint32_t *': 'uint32',
                  'const float *': 'float32', 'float *': 'float32',
                  'const int8_t *': 'int8', 'const int32_t *': 'int32', [`const ${name}_rotary_table *`]: 'rotary_table'};
  // The members of the struct `memory` inside NAME_options have names such as "memory.keys".
  const members = (struct) => {
    const [, text = ''] = header.match(new RegExp(`typedef struct ${name}_${struct} \\{\\n((?:.*\\n)*?)\\} ${name}_${struct};`)) ?? [];
    const [own, inner = ''] = text.split('  struct {\n');
    const read = (part, path) => [...part.matchAll(/^ +(?!\})(.*?)(\w+)(?:\[(\d+)\])?;(?: \/\* (.*) \*\/)?$/gm)]
      .map(([, cType, member, count, comment]) => ({cType, member: path + member, count: Number(count ?? 0), comment}));
    return [...read(own, ''), ...read(inner.replace(/^ *\} memory;.*$/m, ''), 'memory.')];
  };
  // Returns the entry that the description must have for a struct member of the header. The extents of an array are the
  // first brackets in the member's comment, such as [64][128]. An extent may be a sum.
  const entry = ({cType, member, count, comment}) => {
    const extents = (comment.match(/(\[[^\]]+\])+/)?.[0] ?? '').match(/[^[\]]+/g) ?? [];
    const shape = extents.map((each) => each.split(' + ').reduce((a, b) => a + Number(b), 0));
    assert.ok(cType in cTypes, `${member} has the type ${cType}`);
    const array = cType.includes('*') && cTypes[cType] !== 'rotary_table';
    const type = cTypes[cType] === 'uint8' && member.endsWith('_weight') ? 'int4' : cTypes[cType];
    return {name: member, type, ...(count > 0 && {count}), ...(array && {shape})};
  };
  const tensors = (struct) => members(struct).flatMap((each) => {
    if (each.member.endsWith('attention')) {
      return tensors('attention_weights').map((tensor) => ({...tensor, name: `${each.member}.${tensor.name}`}));
    }
    return each.cType.includes('_layer_weights') ? [] : [entry(each)];
  });
  // The header has only the bytes of a row of int4 weights: 16 for each group of 32 weights, and half a byte.
  const described = (list) => list.map(({inputs, ...tensor}) => {
    const groups = Math.ceil(inputs / 32);
    if (inputs) assert.equal(tensor.shape[1], 16 * groups + Math.ceil(groups / 2));
    assert.equal(inputs > 0, tensor.type === 'int4');
    return tensor;
  });
  if (description.layers) {
    assert.deepEqual(described(description.layer), tensors('layer_weights'));
    assert.deepEqual(described(description.weights), tensors('weights'));
  } else {
    assert.deepEqual(description.layer ?? description.weights, tensors('weights'));
  }
  const required = ({comment}) => /(^|; )required$/.test(comment) && {required: true};
  const options = members('options');
  const plain = ({axes, masks, of, output, ...rest}) => rest;
  assert.deepEqual(description.options.map(plain), options.map((each) => ({...entry(each), ...required(each)})));
  const optionNames = description.options.map((each) => each.name);

  // Checks the members `axes`, `masks`, `of` and `output` of each option in the description.
  const {queries} = description;
  const sizesOf = ({name: option}) => {
    const keys = option.startsWith('memory.') ? description.memory : description.keys;
    return {...description, keys, 'ceil(keys / 32)': Math.ceil(keys / 32), distances: 2 * Math.max(queries, keys) + 62};
  };
  const [, memoryMasks = ''] = /MEMORY_MASK ((?:[a-z_]+ ?)+)/.exec(description.arguments) ?? [];
  for (const [i, option] of description.options.entries()) {
    const {shape = [], axes = [], masks, of, output} = option;
    assert.deepEqual(axes.map((axis) => sizesOf(option)[axis]), shape, `axes of ${option.name}`);
    assert.equal(output ?? false, options[i].cType === 'float *', `output of ${option.name}`);
    const parent = optionNames.find((each) => [`${each}_keys`, `${each}_offset`].includes(option.name));
    assert.equal(of, parent, `of of ${option.name}`);
    const isOfMask = !['tokens', 'queries', 'keys', 'sinks', 'rotary', 'rotary_offset', 'attention'].includes(option.name.replace('memory.', ''));
    assert.equal(masks !== undefined, isOfMask, `masks of ${option.name}`);
    const possible = option.name.startsWith('memory.') ? memoryMasks.trim().split(' ') : description.mask;
    for (const mask of masks ?? []) assert.ok(possible.includes(mask), `${option.name} of ${mask}`);
  }
  assert.equal(description.capture !== 'none', optionNames.includes('attention'));
  assert.deepEqual(description.functions, declared);
  // Every array is a parameter of a function, and only the last array is an output.
  for (const [i, {name: array, shape, axes, output}] of description.arrays.entries()) {
    assert.ok(declared.some(({parameters}) => parameters.includes(array)), `array ${array}`);
    assert.deepEqual(axes.map((axis) => description[axis]), shape, `axes of ${array}`);
    assert.equal(output ?? false, i + 1 === description.arrays.length, `output of ${array}`);
  }
  assert.equal(description.unnormed !== undefined, /unnormed_attention/.test(description.arguments));
  const table = header.match(new RegExp(`typedef struct ${name}_rotary_table \\{\\n  float cosine\\[(\\d+)\\]\\[(\\d+)\\]`));
  assert.deepEqual(description.rotary, table ? {positions: Number(table[2]), width: 2 * Number(table[1])} : undefined);

  const gzipped = gzipSync(bytes, {level: 9}).length;
  console.log(`${basename(file)}: ${bytes.length} bytes, ${gzipped} gzipped; vector ${counts.vector}, relaxed ${counts.relaxed}`);
  if (mostGzipped) assert.ok(gzipped <= Number(mostGzipped), `${gzipped} bytes gzipped, allowed: ${mostGzipped}`);
}

others.filter((each) => each !== mostGzipped).forEach(check);
