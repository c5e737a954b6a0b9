// Tests decoders: layers with attention to a memory, the output of an encoder. tests/kernels/CMakeLists.txt makes the
// kernels. The expected results come from PyTorch (tests/data/pytorch-extra) and from the oracle.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "../dist/index.js";
import { exactKernel, runnableOf, skipWithoutKernels as skip, testKernel } from "./int8_kernels.mjs";
import { expectedOfDecoder, randomOf, randoms, weightsOf } from "./kernels.mjs";
import { randomHalves, valuesOf } from "./narrow_floats.mjs";
import { bound } from "./oracle.mjs";
import { refuses } from "./refuses.mjs";
import { safetensors } from "./safetensors.mjs";

const random = randomOf(91);
const largest = (numbers) => numbers.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
/** Returns the largest difference of two arrays, or NaN if one of the numbers is NaN. */
const distance = (a, b) => {
  assert.equal(a.length, b.length);
  return largest(Array.from(a, (value, i) => value - b[i]));
};

const torch = JSON.parse(readFileSync(new URL("../../tests/data/pytorch-extra/decoding.json", import.meta.url), "utf8"));
const torchCase = torch.cases.find(({ name }) => name === "pre_ln_gelu");
const [target, memory, expected] = ["target", "memory", "expected"].map((name) => torchCase[name].flat());
const torchFile = safetensors(
  Object.entries(torchCase.weights).map(([name, values]) => {
    const columns = /linear2\.weight$/.test(name) ? torch.feed_forward : torch.model;
    const shape = /norm|bias$/.test(name) ? [values.length] : [values.length / columns, columns];
    return [name, shape, Float32Array.from(values)];
  }),
);

for (const variant of runnableOf("torch_decoder")) {
  test(`PyTorch's decoder: the whole text, ${variant}`, { skip }, async () => {
    const instance = (await load(testKernel("torch_decoder"), { variant })).create();
    await instance.weights.load(torchFile);
    for (let round = 0; round < 2; ++round) {
      assert.ok(distance(instance.run(target, { memory }), expected) < 1e-5);
    }
  });

  test(`PyTorch's decoder: a text that grows, ${variant}`, { skip }, async () => {
    const instance = (await load(testKernel("torch_decoding"), { variant })).create();
    await instance.weights.load(torchFile);
    for (const steps of [[1, 1, 1, 1, 1, 1, 1], [3, 3, 1], [2, 1, 3, 1]]) {
      instance.clear();
      const y = [];
      for (const tokens of steps) {
        const x = target.slice(y.length, y.length + tokens * torch.model);
        // The first step of all projects the memory, and the other steps use its keys and values.
        y.push(...instance.run(x, steps.length === 7 && !y.length ? { tokens, memory } : { tokens }));
      }
      assert.ok(distance(y, expected) < 1e-5);
    }
  });
}

/** Returns the largest distance of y and of the maps, divided by the allowed distance. */
const share = (instance, y, wanted, longest) => {
  const { description } = instance;
  const { layers, queries: mostQueries } = description;
  // A decoder layer has 7 steps more than an encoder layer, whose depth is 12 (test_oracle.mjs).
  const allowed = (size) => bound({ longest, depth: 19 * layers, size });
  const flat = wanted.y.flat();
  let most = distance(y, flat) / allowed(Math.max(1, largest(flat)));
  for (const [name, keys, all] of [["maps", description.keys, "attention"], ["memoryMaps", description.memory, "memoryAttention"]]) {
    wanted[name].forEach((ofLayer, layer) => {
      const map = instance[all](layer);
      ofLayer.forEach((rows, h) =>
        rows.forEach((row, i) => {
          const at = (h * mostQueries + i) * keys;
          const off = distance(map.subarray(at, at + row.length), row) / allowed(1);
          most = Math.max(most, Number.isNaN(off) ? Infinity : off);
        }),
      );
    });
  }
  return Number.isNaN(most) ? Infinity : most;
};

for (const name of ["decoder", "decoder_int8"]) {
  for (const variant of runnableOf(name)) {
    test(`${name}.${variant} agrees with the oracle`, { skip }, async (t) => {
      const kernel = await exactKernel(testKernel(name), { variant });
      if (!kernel) return t.skip("this engine computes the instruction inexactly");
      const { description } = kernel;
      const { model, queries: most, memory: mostMemory, feedForward } = description;
      const instance = kernel.create();
      const weights = weightsOf(description, random);
      instance.weights.set(weights);
      // All memory that a run may use holds NaN, so that a read of unwritten memory changes the result.
      const nan = (count) => new Float32Array(count * model).fill(NaN);
      instance.run(nan(most), { memory: nan(mostMemory), attention: true });
      for (const [tokens, ofMemory] of [[0, 3], [1, 1], [2, 0], [5, 9], [17, 21], [19, 4]]) {
        const [x, m] = [randoms(random, tokens * model), randoms(random, ofMemory * model)];
        const padding = Uint8Array.from({ length: tokens }, (_, j) => +(j % 4 !== 2));
        const memoryPadding = Uint8Array.from({ length: ofMemory }, (_, j) => +(j % 3 !== 1));
        const run = (more, padded = {}) =>
          instance.run(x, { tokens, memory: m, attention: true, ...more, memoryOptions: { keys: ofMemory, ...padded } }).slice();
        const check = (y, masks) => {
          const wanted = expectedOfDecoder(description, weights, x, m, tokens, tokens, masks);
          const off = share(instance, y, wanted, Math.max(feedForward, most, mostMemory));
          assert.ok(off <= 1, `${tokens} tokens, memory of ${ofMemory}: off by ${off} of the bound`);
        };
        const plain = run();
        check(plain, { maySee: (i, j) => j <= i, maySeeMemory: () => true });
        const padded = run({ padding }, { padding: memoryPadding });
        check(padded, { maySee: (i, j) => j <= i && padding[j] > 0, maySeeMemory: (_, j) => memoryPadding[j] > 0 });
        assert.deepEqual(run(), plain, "a second run gives other bits");
      }
    });
  }
}

/** Returns random weights for the kernel, and their values: a bfloat16 matrix is a Uint16Array. */
const halvesOf = (description) => {
  const values = weightsOf(description, random);
  const given = { ...values };
  const slots = [0, 1].flatMap((i) => description.layer.map((tensor) => ({ ...tensor, name: `layers.${i}.${tensor.name}` })));
  for (const { name, type } of slots.filter((one) => one.type === "bfloat16")) {
    given[name] = randomHalves(random, values[name].length, "BF16");
    values[name] = valuesOf(given[name], "BF16").map((value) => value / 2);
    given[name] = given[name].map((half) => half - 0x80); // half of the value
  }
  return { given, values };
};

for (const name of ["decoder_cache", "decoder_bfloat16"]) {
  for (const variant of runnableOf(name)) {
    test(`${name}.${variant}: a text that grows agrees with the oracle`, { skip }, async () => {
      const kernel = await load(testKernel(name), { variant });
      const { description } = kernel;
      const { model, keys: most, memory: mostMemory, feedForward } = description;
      const instance = kernel.create();
      const { given, values } = name === "decoder_bfloat16" ? halvesOf(description) : { given: weightsOf(description, random) };
      instance.weights.set(given);
      const ofMemory = 7;
      for (let round = 0; round < 2; ++round) {
        const [x, m] = [randoms(random, most * model), randoms(random, ofMemory * model)];
        const padding = Uint8Array.from({ length: ofMemory }, (_, j) => +(j % 3 !== 1));
        const masks = { maySee: (i, j) => j <= i, maySeeMemory: (_, j) => padding[j] > 0 };
        const wanted = expectedOfDecoder(description, values ?? given, x, m, most, most, masks).y.flat();
        const y = [];
        for (const tokens of [1, 5, 2, 1, 3]) {
          const memoryOptions = y.length ? { padding } : { padding, keys: ofMemory };
          const ofRun = y.length ? { tokens, memoryOptions } : { tokens, memoryOptions, memory: m };
          y.push(...instance.run(x.subarray(y.length, y.length + tokens * model), ofRun));
        }
        assert.equal(instance.cached, most);
        const longest = Math.max(feedForward, most, mostMemory);
        const off = distance(y, wanted) / bound({ longest, depth: 19 * 2, size: Math.max(1, largest(wanted)) });
        assert.ok(off <= 1, `off by ${off} of the bound`);
        instance.clear();
      }
      assert.ok((await kernel.warmUp({ most: 30 })).calls > 0);
    });
  }
}

test("sinks and a number for each pair of query and token of the memory", { skip }, async () => {
  const { description, ...kernel } = await load(testKernel("odd_decoder"), { variant: "scalar" });
  const instance = kernel.create();
  instance.weights.set(weightsOf(description, random));
  const { model } = description;
  const [x, m] = [randoms(random, 4 * model), randoms(random, 5 * model)];
  const given = { tokens: 4, memory: m, sinks: [-Infinity, -Infinity] };
  const memoryOptions = { keys: 5, sinks: [-Infinity, -Infinity] };
  const run = (more) => instance.run(x, { ...given, memoryOptions: { ...memoryOptions, ...more } }).slice();
  const plain = run();
  const hides = (j) => Float32Array.from({ length: 2 * 4 * 5 }, (_, i) => (i % 5 === j ? -Infinity : 0));
  assert.deepEqual(run({ additive: new Float32Array(2 * 4 * 5) }), plain);
  assert.deepEqual(run({ additive: hides(3) }), run({ padding: [1, 1, 1, 0, 1] }));
  assert.ok(distance(run({ additive: hides(3) }), plain) > 1e-3);
  assert.ok(distance(run({ sinks: [2, 2] }), plain) > 1e-3);
  await refuses(() => instance.run(x, { ...given, memoryOptions: { keys: 5 } }), "option", "memory.sinks");
  await refuses(() => run({ additive: new Float32Array(19) }), "length", "memory.additive");
  await refuses(() => run({ keys: 10 }), "length", "memoryOptions.keys");
  await refuses(() => run({ additive_keys: 5 }), "option", "padding");
  await refuses(() => run({ attention: true }), "option", "padding");
});

test("a run of a decoder that fails leaves its text and its memory as they were", { skip }, async () => {
  const kernel = await load(testKernel("decoder_cache"), { variant: "scalar" });
  const { model, memory: mostMemory } = kernel.description;
  const instance = kernel.create();
  const twin = kernel.create(); // gets only the calls that succeed
  const weights = weightsOf(kernel.description, random);
  for (const one of [instance, twin]) one.weights.set(weights);
  const x = randoms(random, 12 * model);
  const [first, second] = [randoms(random, mostMemory * model), randoms(random, mostMemory * model)];
  const step = (tokens, options) => {
    const run = (one) => one.run(x.subarray(0, tokens * model), { tokens, ...options }).slice();
    assert.deepEqual(run(instance), run(twin));
  };
  await refuses(() => instance.run(x.subarray(0, model), { tokens: 1 }), "length", "memory: expected");
  step(5, { memory: first });
  step(4, {});
  await refuses(() => instance.run(x.subarray(0, 4 * model), { tokens: 4, memory: second }), "status", "no room");
  await refuses(() => instance.run(x.subarray(0, model), { tokens: 1, memory: x }), "length", "memory: expected");
  await refuses(() => instance.run(x.subarray(0, model), { tokens: 1, memoryOptions: 5 }), "option", "an object of");
  await refuses(() => instance.run(x.subarray(0, model), { tokens: 1, context: second }), "option", "memory");
  assert.equal(instance.cached, 9);
  step(1, {});
  step(1, { memory: second }); // the text goes on with another memory
  step(1, {});
  for (const one of [instance, twin]) one.clear();
  step(3, {}); // the memory stays
  // A memory of fewer tokens, and fewer tokens of it.
  step(1, { memory: second.subarray(0, 4 * model), memoryOptions: { keys: 4 } });
  step(1, { memoryOptions: { keys: 3 } });
  await refuses(() => instance.run(x.subarray(0, model), { tokens: 1, memoryOptions: { keys: 5 } }), "length", "from 0 to 4");
  instance.weights.set(weights);
  await refuses(() => instance.run(x.subarray(0, model), { tokens: 1 }), "length", "memory: expected");
});

test("attention maps and masks of a decoder", { skip }, async () => {
  const kernel = await load(testKernel("decoder"), { variant: "scalar" });
  const instance = kernel.create({ mask: "causal" });
  instance.weights.set(weightsOf(kernel.description, random));
  const { model } = kernel.description;
  const given = { tokens: 3, memory: randoms(random, 21 * model) };
  const x = randoms(random, 3 * model);
  const padding = [1, 0, 1];
  await refuses(() => instance.run(x, { ...given, padding }), "mask", "padding");
  // The masks that an instance chooses are those of self-attention.
  instance.run(x, { ...given, memoryOptions: { padding: new Array(21).fill(1) } });
  await refuses(() => instance.memoryAttention(0), "attention");
  instance.run(x, { ...given, attention: true });
  assert.equal(instance.memoryAttention(1).length, 2 * 19 * 21);
  await refuses(() => instance.memoryAttention(2), "length", "layer");
  const encoder = (await load(testKernel("odd_layer"), { variant: "scalar" })).create();
  await refuses(() => encoder.memoryAttention(), "attention", "memory.attention");
});

/** Returns the name in checkpoints of PyTorch's nn.TransformerDecoder, and of Hugging Face's BART. */
const pytorchName = (name) =>
  name
    .replace("self_attention.", "self_attn.")
    .replace("cross_attention.", "multihead_attn.")
    .replace(/(out_proj|linear\d|norm\d)_(weight|bias)/, "$1.$2");
const bartName = (name) =>
  name
    .replace("layers.", "decoder.layers.")
    .replace("self_attention.", "self_attn.")
    .replace("cross_attention.", "encoder_attn.")
    .replace(/(query|key|value)_proj_/, (_, part) => `${part[0]}_proj.`)
    .replace("out_proj_", "out_proj.")
    .replace("linear1_", "fc1.")
    .replace("linear2_", "fc2.")
    .replace("norm1_", "self_attn_layer_norm.")
    .replace("norm2_", "encoder_attn_layer_norm.")
    .replace("norm3_", "final_layer_norm.");

for (const [title, kernelName, nameOf] of [
  ["PyTorch", "decoder_cache", pytorchName],
  ["BART", "decoder_bfloat16", bartName],
]) {
  test(`the names of a decoder's tensors: ${title}`, { skip }, async () => {
    const kernel = await load(testKernel(kernelName), { variant: "scalar" });
    const { model, memory: mostMemory } = kernel.description;
    const weights = weightsOf(kernel.description, random);
    const renamed = Object.fromEntries(Object.entries(weights).map(([name, values]) => [`model.${nameOf(name)}`, values]));
    const [x, m] = [randoms(random, model), randoms(random, mostMemory * model)];
    const run = (given, options) => {
      const instance = kernel.create();
      instance.weights.set(given, options);
      return instance.run(x, { tokens: 1, memory: m }).slice();
    };
    assert.deepEqual(run(renamed, { prefix: "model" }), run(weights));
    const [first] = Object.keys(renamed);
    const { [first]: _, ...rest } = renamed;
    await refuses(() => run(rest, { prefix: "model" }), "weights", "tensors of LAYOUT");
  });
}
