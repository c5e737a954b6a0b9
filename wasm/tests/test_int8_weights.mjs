// Tests how int8 kernels get their weights. The weights come from arrays or from files. They are integers with scales,
// or floats that the binding quantises. Also tests floats of 16 bits.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { load } from "../dist/index.js";
import { bert, llama } from "./checkpoint_names.mjs";
import { shippedScalar, skipWithoutKernels, testKernel } from "./int8_kernels.mjs";
import { randomOf, randoms, weightsOf } from "./kernels.mjs";
import { randomHalves, valueOfHalf, valuesOf } from "./narrow_floats.mjs";
import { refuses } from "./refuses.mjs";
import { safetensors, streamOf } from "./safetensors.mjs";

const random = randomOf(41);

/** Quantises a row as include/ladon/quantise.hpp defines. */
const quantiseRow = (row) => {
  const largest = Math.max(...row.map(Math.abs));
  const divided = Math.fround(largest / 127);
  const scale = divided < 2 ** -126 ? 1 : divided;
  const integers = row.map((weight) => {
    const quotient = Math.fround(weight / scale);
    const below = Math.floor(quotient);
    const rest = quotient - below;
    return rest === 0.5 ? below + (below & 1) : Math.round(quotient);
  });
  return { integers, scale, sum: integers.reduce((a, b) => a + b, 0) };
};

/** Quantises the matrices of float weights. Returns the weights of an int8 kernel, and the row sums. */
const quantised = (floats, shapes) => {
  const weights = {};
  const sums = {};
  for (const [name, data] of Object.entries(floats)) {
    if (shapes[name].length === 1) {
      weights[name] = data;
      continue;
    }
    const [rows, columns] = shapes[name];
    const all = Array.from({ length: rows }, (_, r) => quantiseRow(Array.from(data.subarray(r * columns, (r + 1) * columns))));
    weights[name] = Int8Array.from(all.flatMap(({ integers }) => integers));
    weights[`${name}_scale`] = Float32Array.from(all, ({ scale }) => scale);
    sums[`${name}_row_sum`] = Int32Array.from(all, ({ sum }) => sum);
  }
  return { weights, sums };
};

const isFloat = ({ type, name }) => type !== "int32" && !name.endsWith("_weight_scale");
const shapesOf = ({ weights, layer = [] }) =>
  Object.fromEntries([...layer, ...weights].filter(isFloat).map(({ name, shape }) => [name, shape]));
const floatsOf = (shapes) =>
  Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => {
      const mean = /norm.?_weight/.test(name) ? 1 : 0;
      return [name, randoms(random, shape.reduce((a, b) => a * b, 1), 0.5, mean)];
    }),
  );

// The tests use the scalar variant, because it computes exact products with activations of 8 bits on every engine.
const kernel = skipWithoutKernels ? undefined : await load(testKernel("int8_layer"), { variant: "scalar" });
const shapes = kernel && shapesOf(kernel.description);
const floats = kernel && floatsOf(shapes);
const { weights, sums } = kernel ? quantised(floats, shapes) : {};
const x = randoms(random, 4 * 18);
const runOf = (instance) => instance.run(x, { tokens: 4 }).slice();
const made = (given) => {
  const instance = kernel.create();
  instance.weights.set(given);
  return instance;
};
const wanted = kernel && runOf(made(weights));
const old = kernel && weightsOf(kernel.description, random);
const oldY = kernel && runOf(made(old));
const dtypes = new Map([
  [Float32Array, "F32"],
  [Int8Array, "I8"],
  [Uint16Array, "F16"],
]);
const shapeOf = (name) => shapes[name] ?? [shapes[name.replace(/_scale$/, "")][0], 1];
const fileOf = (given, { rename = (name) => name, dtypeOf = (name, data) => dtypes.get(data.constructor), ...rest } = {}) =>
  safetensors(
    Object.entries(given).map(([name, data]) => [rename(name), shapeOf(name), data, dtypeOf(name, data)]),
    rest,
  );
const testHere = (name, act) => test(name, { skip: skipWithoutKernels }, act);

testHere("arrays: integers with scales, and floats", () => {
  const fromFloats = made(floats);
  assert.deepEqual(runOf(fromFloats), wanted);
  for (const [name, data] of Object.entries({ ...weights, ...sums })) {
    assert.deepEqual(fromFloats.weights.tensor(name), data, name);
    assert.deepEqual(made(weights).weights.tensor(name), data, name);
  }
});

testHere("arrays: some matrices of integers and some of floats", () => {
  const mixed = { ...weights, linear1_weight: floats.linear1_weight };
  delete mixed.linear1_weight_scale;
  assert.deepEqual(runOf(made(mixed)), wanted);
});

testHere("arrays that are views of the instance's own memory", () => {
  const instance = made(weights);
  const own = Object.fromEntries(Object.keys(weights).map((name) => [name, instance.weights.tensor(name)]));
  instance.weights.set(own);
  assert.deepEqual(runOf(instance), wanted);
});

testHere("the type of a tensor", async () => {
  const { weights: own } = made(floats);
  assert.ok(own.tensor("linear1_weight") instanceof Int8Array);
  assert.ok(own.tensor("linear1_weight", "int8") instanceof Int8Array);
  assert.ok(own.tensor("linear1_weight_scale", "float32") instanceof Float32Array);
  assert.ok(own.tensor("linear1_weight_row_sum", "int32") instanceof Int32Array);
  assert.ok(own.tensor("norm1_weight") instanceof Float32Array);
  await refuses(() => own.tensor("linear1_weight", "float32"), "weights", "type of linear1_weight", "expected float32, got int8");
  await refuses(() => own.tensor("norm1_bias", "int8"), "weights", "expected int8, got float32");
  await refuses(() => own.tensor("norm1_bias", "float64"), "weights", "expected float64, got float32");
});

const pytorch = (name) => name.replace("attention.", "self_attn.").replace(/(out_proj|linear.|norm.)_/, "$1.");

testHere("names of checkpoints, in arrays and in files", async () => {
  for (const rename of [bert, llama, pytorch]) {
    for (const given of [weights, floats]) {
      // PyTorch has only a packed tensor for the projections of queries, keys and values. For separate projections, the
      // test uses the names of the C members.
      const named = (name) => (rename === pytorch && /query|key|value/.test(name) ? name : rename(name));
      const entries = Object.fromEntries(Object.entries(given).map(([name, data]) => [named(name), data]));
      assert.deepEqual(runOf(made(entries)), wanted, rename.name);
      const instance = made(old);
      await instance.weights.load(fileOf(given, { rename: (name) => `a.b.${named(name)}` }), { prefix: "a.b" });
      assert.deepEqual(runOf(instance), wanted, rename.name);
      const name = `a.b.${named("linear2_weight")}`;
      assert.deepEqual(instance.weights.tensor(name, "int8"), weights.linear2_weight);
      assert.deepEqual(instance.weights.tensor(`${name}_scale`, "float32"), weights.linear2_weight_scale);
      assert.deepEqual(instance.weights.tensor(`${name}_row_sum`, "int32"), sums.linear2_weight_row_sum);
    }
  }
});

testHere("PyTorch's packed projections", async () => {
  const pack = (given) => {
    const packed = {};
    for (const [name, data] of Object.entries(given)) {
      const place = name.replace(/(query|key|value)_proj/, "in_proj");
      packed[place] = [...(packed[place] ?? []), ...data];
    }
    const typed = (name, data) => (given[name] ?? given[name.replace("in_proj", "query_proj")]).constructor.from(data);
    return Object.fromEntries(Object.entries(packed).map(([name, data]) => [pytorch(name), typed(name, data)]));
  };
  for (const given of [weights, floats]) {
    const packed = pack(given);
    assert.ok(packed["self_attn.in_proj_weight"].length === 3 * 18 * 18);
    assert.deepEqual(runOf(made(packed)), wanted);
    const tensors = Object.entries(packed).map(([name, data]) => {
      const own = Object.keys(given).find((one) => pytorch(one) === name);
      const shape = own ? shapeOf(own) : /bias|scale/.test(name) ? [54] : [54, 18];
      return [name, shape, data, dtypes.get(data.constructor)];
    });
    const instance = made(old);
    await instance.weights.load(safetensors(tensors));
    assert.deepEqual(runOf(instance), wanted);
    assert.equal(instance.weights.tensor("self_attn.in_proj_weight", "int8").length, 3 * 18 * 18);
    assert.equal(instance.weights.tensor("self_attn.in_proj_weight_row_sum", "int32").length, 54);
  }
});

/**
 * Returns random tensors of 16-bit floats (F16 or BF16) with the names and sizes in `all`, and their values as float32.
 */
const asHalves = (dtype, all = floats) => {
  const halves = Object.fromEntries(Object.entries(all).map(([name, { length }]) => [name, randomHalves(random, length, dtype)]));
  const values = Object.fromEntries(Object.entries(halves).map(([name, data]) => [name, valuesOf(data, dtype)]));
  return { halves, values };
};

testHere("files, in pieces of every size: I8, F32, F16, BF16", async () => {
  const files = [
    [fileOf(weights), wanted],
    [fileOf(floats), wanted],
    ...["F16", "BF16"].map((dtype) => {
      const { halves, values } = asHalves(dtype);
      return [fileOf(halves, { dtypeOf: () => dtype }), runOf(made(values))];
    }),
  ];
  for (const [file, y] of files) {
    for (const piece of [1, 3, 64, 1000, 1e6]) {
      const instance = made(old);
      const seen = [];
      await instance.weights.load(streamOf(file, piece), { progress: (bytes, total) => seen.push([bytes, total]) });
      assert.deepEqual(runOf(instance), y);
      assert.deepEqual(seen.at(-1), [file.length, file.length]);
      assert.ok(seen.every(([bytes], i) => i === 0 || bytes > seen[i - 1][0]));
    }
  }
});

testHere("scales of each dtype and shape, before and after their weights", async () => {
  for (const dtype of ["F32", "F16", "BF16"]) {
    const scales = {};
    const values = { ...weights };
    for (const name of Object.keys(weights).filter((one) => one.endsWith("_scale"))) {
      const halves = randomHalves(random, weights[name].length, dtype === "F32" ? "F16" : dtype).map((half) => half & 0x7fff);
      values[name] = valuesOf(halves, dtype === "F32" ? "F16" : dtype);
      scales[name] = dtype === "F32" ? values[name] : halves;
    }
    const y = runOf(made(values));
    const given = { ...weights, ...scales };
    const backwards = Object.fromEntries(Object.entries(given).reverse());
    for (const tensors of [given, backwards]) {
      for (const columns of [[], [1]]) {
        const entries = Object.entries(tensors).map(([name, data]) => {
          const isScale = name.endsWith("_scale");
          const shape = isScale ? [data.length, ...columns] : shapeOf(name);
          return [name, shape, data, isScale ? dtype : dtypes.get(data.constructor)];
        });
        const instance = made(old);
        await instance.weights.load(safetensors(entries));
        assert.deepEqual(runOf(instance), y, `${dtype} ${columns}`);
      }
    }
  }
});

testHere("tensors beside those of the kernel have the type of the file", async () => {
  const words = randomHalves(random, 12, "F16");
  const integers = Int8Array.from({ length: 12 }, (_, i) => i - 6);
  const others = [
    ["half", [3, 4], words, "F16"],
    ["brain", [3, 4], words, "BF16"],
    ["integers", [3, 4], integers, "I8"],
    ["integers_scale", [3, 1], Float32Array.of(1, 2, 3)],
    ["counts", [2], Int32Array.of(-5, 7), "I32"],
    ["ids", [1], new Uint8Array(8), "I64"],
  ];
  const own = Object.entries(floats).map(([name, data]) => [name, shapeOf(name), data]);
  const { weights: loaded } = made(old);
  await loaded.load(safetensors([...own, ...others]));
  assert.deepEqual(loaded.tensor("half"), valuesOf(words, "F16"));
  assert.deepEqual(loaded.tensor("brain", "float32"), valuesOf(words, "BF16"));
  assert.equal(loaded.tensor("half"), loaded.tensor("half"), "the copy is made once");
  assert.deepEqual(loaded.tensor("integers", "int8"), integers);
  assert.deepEqual(loaded.tensor("integers_scale", "float32"), Float32Array.of(1, 2, 3));
  assert.deepEqual(loaded.tensor("counts", "int32"), Int32Array.of(-5, 7));
  await refuses(() => loaded.tensor("ids"), "weights", "expected float32,bfloat16,int8,int4,int32,F16,BF16, got dtype I64");
});

const change = (name, data, from = weights) => ({ ...from, [name]: data });
const without = (name, from = weights) => Object.fromEntries(Object.entries(from).filter(([own]) => own !== name));
const changedScale = (value) => {
  const scale = weights.linear2_weight_scale.slice();
  scale[3] = value;
  return change("linear2_weight_scale", scale);
};
const changedFloat = (value) => {
  const matrix = floats.linear2_weight.slice();
  matrix[27 * 5 + 2] = value;
  return change("linear2_weight", matrix, floats);
};
const refusals = kernel && [
  ["a scale of 0", changedScale(0), "weights", "linear2_weight_scale of row 3: expected a positive number, got 0"],
  ["a negative scale", changedScale(-1), "weights", "linear2_weight_scale of row 3", "got -1"],
  ["a scale that is NaN", changedScale(NaN), "weights", "linear2_weight_scale of row 3", "got NaN"],
  ["an infinite scale", changedScale(Infinity), "weights", "got Infinity"],
  ["a weight that is NaN", changedFloat(NaN), "weights", "row 5 of linear2_weight: expected finite weights"],
  ["an infinite weight", changedFloat(-Infinity), "weights", "row 5 of linear2_weight"],
  ["integers without scales", without("linear1_weight_scale"), "weights", "expected linear1_weight_scale, got"],
  ["scales without integers", without("linear1_weight"), "weights", "expected linear1_weight, got"],
  ["floats with scales", change("linear1_weight", floats.linear1_weight), "weights", "linear1_weight_scale", "the binding makes it"],
  ["a missing matrix", without("linear1_weight", floats), "weights", "expected linear1_weight, got"],
  ["a bias of integers", change("linear1_bias", new Int8Array(27)), "weights", "type of linear1_bias", "expected float32", "got int8"],
];

for (const [what, given, code, ...texts] of refusals ?? []) {
  testHere(`refused: ${what}`, async () => {
    const instance = made(old);
    const bytes = instance.weights.tensor("norm1_bias").buffer.byteLength;
    await refuses(() => instance.weights.set(given), code, ...texts);
    await refuses(() => instance.weights.load(fileOf(given)), code, ...texts);
    await refuses(() => instance.weights.load(streamOf(fileOf(given), 100)), code, ...texts);
    assert.deepEqual(runOf(instance), oldY, "the weights are unchanged");
    for (let i = 0; i < 20; ++i) assert.throws(() => instance.weights.set(given), { code });
    const grown = instance.weights.tensor("norm1_bias").buffer.byteLength - bytes;
    assert.ok(grown <= 65536, `${grown} bytes more`);
    instance.weights.set(weights);
    assert.deepEqual(runOf(instance), wanted);
  });
}

testHere("refused: arrays of other lengths and classes", async () => {
  const instance = made(old);
  await refuses(() => instance.weights.set(change("linear1_weight", new Int8Array(5))), "shape", "linear1_weight", "got 5");
  await refuses(() => instance.weights.set(change("linear1_weight", new Float32Array(5), floats)), "shape", "got 5");
  await refuses(() => instance.weights.set(change("linear1_weight_scale", new Float32Array(5))), "shape", "expected 27, got 5");
  await refuses(() => instance.weights.set(change("linear1_weight", new Uint8Array(486))), "weights", "type of linear1_weight", "got int4");
  for (const odd of [new Int32Array(486), new Float64Array(486), [1], "x", null]) {
    await refuses(() => instance.weights.set(change("linear1_weight", odd)), "weights", "a Float32Array, a Uint16Array (bfloat16), an Int8Array or a Uint8Array (int4)");
  }
  await refuses(() => instance.weights.set({ ...weights, ...sums }), "weights", "a Float32Array, a Uint16Array (bfloat16), an Int8Array or a Uint8Array (int4)");
  const rowSums = change("linear1_weight_row_sum", new Float32Array(27));
  await refuses(() => instance.weights.set(rowSums), "weights", "linear1_weight_row_sum", "the binding makes it");
  assert.deepEqual(runOf(instance), oldY);
});

const entry = (given, name, part) =>
  fileOf(given, { change: (header) => ({ ...header, [name]: { ...header[name], ...part } }) });

testHere("refused: files", async () => {
  const entries = Object.entries(weights).map(([name, data]) => [name, shapeOf(name), data, dtypes.get(data.constructor)]);
  const zeros = (values) => safetensors([...entries, ["linear1_weight_zero_point", [27, 1], Int8Array.from(values), "I8"]]);
  const mixed = { ...without("linear1_weight_scale"), linear1_weight: floats.linear1_weight };
  for (const [file, code, ...texts] of [
    [entry(weights, "linear1_weight", { shape: [18, 27] }), "shape", "shape of linear1_weight: expected 27,18, got 18,27"],
    [entry(floats, "linear1_weight", { shape: [18, 27] }), "shape", "shape of linear1_weight: expected 27,18, got 18,27"],
    [entry(weights, "linear1_weight_scale", { shape: [1, 27] }), "shape", "shape of linear1_weight_scale: expected 27, got 1,27"],
    [entry(weights, "linear1_weight_scale", { shape: [27, 1, 1] }), "shape", "linear1_weight_scale"],
    [entry(weights, "linear1_weight", { dtype: "U8" }), "weights", "type of linear1_weight", "got int4"],
    [entry(floats, "linear1_weight", { dtype: "I32" }), "weights", "int8, float32, F16, BF16", "got int32"],
    [entry(weights, "linear1_weight", { dtype: "F16" }), "weights", "bytes of linear1_weight"],
    [entry(weights, "linear1_weight_scale", { dtype: "I32" }), "weights", "type of linear1_weight_scale", "got int32"],
    [fileOf(mixed), "weights", "type of linear1_weight: expected int8, as of"],
    [zeros(Array.from({ length: 27 }, (_, i) => +(i === 9))), "weights", "linear1_weight_zero_point", "symmetric", "got 1"],
    [fileOf(weights).subarray(0, -1), "weights", "bytes of"],
    [fileOf(floats).subarray(0, -1), "weights", "bytes of"],
    [Uint8Array.from([...fileOf(floats), 0]), "weights", "more"],
  ]) {
    const instance = made(old);
    await refuses(() => instance.weights.load(file), code, ...texts);
    assert.deepEqual(runOf(instance), oldY, "the weights are unchanged");
    await instance.weights.load(zeros(new Array(27).fill(0)));
    assert.deepEqual(runOf(instance), wanted);
  }
});

testHere("an abort while floats are quantised", async () => {
  const instance = made(old);
  const controller = new AbortController();
  const file = fileOf(floats);
  const stream = streamOf(file, 500, (at) => at > 5000 && controller.abort(new Error("enough")));
  await refuses(() => instance.weights.load(stream, { signal: controller.signal }), "aborted", "enough");
  assert.deepEqual(runOf(instance), oldY);
});

testHere("one after the other: memory does not grow for ever", async () => {
  const instance = made(old);
  const { halves } = asHalves("BF16");
  let bytes = 0;
  for (let i = 0; i < 6; ++i) {
    for (const file of [fileOf(weights), fileOf(floats), fileOf(halves, { dtypeOf: () => "BF16" })]) {
      await instance.weights.load(file);
    }
    instance.weights.set(floats);
    assert.deepEqual(runOf(instance), wanted);
    const size = instance.run(x, { tokens: 4 }).buffer.byteLength;
    if (i > 1) assert.equal(size, bytes);
    bytes = size;
  }
});

test("a float32 kernel reads F16 and BF16, and refuses int8", async () => {
  const float32 = await load("attention_64_4", { variant: "scalar" });
  const own = shapesOf(float32.description);
  const input = randoms(random, 3 * 64);
  for (const dtype of ["F16", "BF16"]) {
    const { halves, values } = asHalves(dtype, floatsOf(own));
    const [instance, other] = [float32.create(), float32.create()];
    const entries = Object.entries(halves).map(([name, data]) => [name, own[name], data, dtype]);
    for (const piece of [1, 4095, 1e6]) {
      await instance.weights.load(streamOf(safetensors(entries), piece));
      other.weights.set(values);
      assert.deepEqual(instance.run(input, { tokens: 3 }), other.run(input, { tokens: 3 }));
      assert.deepEqual(instance.weights.tensor("in_proj_weight", "float32"), values.in_proj_weight);
    }
  }
  const matrix = new Int8Array(192 * 64).fill(1);
  const given = { ...floatsOf(own), in_proj_weight: matrix, in_proj_weight_scale: new Float32Array(192).fill(1) };
  await refuses(() => float32.create().weights.set(given), "weights", "int8 weights need a kernel with PRECISION int8", "got int8");
  const entries = Object.entries(given).map(([name, data]) => [name, own[name] ?? [192, 1], data, dtypes.get(data.constructor)]);
  await refuses(() => float32.create().weights.load(safetensors(entries)), "weights", "PRECISION int8", "got int8");
});

test("every half is converted exactly", async () => {
  const float32 = await load("attention_64_4", { variant: "scalar" });
  const own = shapesOf(float32.description);
  const all = Uint16Array.from({ length: 65536 }, (_, half) => half);
  for (const dtype of ["F16", "BF16"]) {
    const instance = float32.create();
    const entries = Object.entries(floatsOf(own)).map(([name, data]) => [name, own[name], data]);
    await instance.weights.load(safetensors([...entries, ["all", [65536], all, dtype]]));
    instance.weights.tensor("all", "float32").forEach((value, half) => {
      const exact = valueOfHalf(half, dtype);
      assert.ok(Object.is(value, exact), `${dtype} ${half.toString(16)}: ${value}, not ${exact}`);
    });
  }
});

test("rows of any numbers are quantised as the library defines", { skip: skipWithoutKernels }, () => {
  const instance = kernel.create();
  const value = fc.oneof(
    fc.float({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(0, -0, 1, -1, 0.5, 2 ** -126, 2 ** -149, 127 * 2 ** -126, 3.4028234663852886e38),
  );
  const row = fc.array(value, { minLength: 18, maxLength: 18 });
  fc.assert(
    fc.property(fc.array(row, { minLength: 27, maxLength: 27 }), (rows) => {
      instance.weights.set({ ...floats, linear1_weight: Float32Array.from(rows.flat()) });
      const all = rows.map((one) => quantiseRow(Array.from(one)));
      const found = (name, type) => Array.from(instance.weights.tensor(name, type));
      assert.deepEqual(found("linear1_weight_scale", "float32"), all.map(({ scale }) => scale));
      assert.deepEqual(found("linear1_weight", "int8"), all.flatMap(({ integers }) => integers.map((one) => one + 0)));
      assert.deepEqual(found("linear1_weight_row_sum", "int32"), all.map(({ sum }) => sum + 0));
    }),
    { seed: 7, numRuns: 60 },
  );
});

test("any file of int8 tensors is loaded completely or refused", { skip: skipWithoutKernels }, async () => {
  const instance = made(old);
  const names = Object.keys(weights);
  const damage = fc.record({
    name: fc.constantFrom(...names, "linear1_weight_row_sum", "other"),
    dtype: fc.constantFrom("F32", "F16", "BF16", "I8", "I32", "U8", "float32"),
    shape: fc.array(fc.constantFrom(1, 18, 27, 54), { maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(damage, fc.nat(3000), async ({ name, dtype, shape }, piece) => {
      const sizes = { F32: 4, F16: 2, BF16: 2, I8: 1, I32: 4, U8: 1, float32: 4 };
      const length = shape.reduce((a, b) => a * b, 1);
      const entries = Object.entries(weights).map(([own, data]) => [own, shapeOf(own), data, dtypes.get(data.constructor)]);
      const others = entries.filter(([own]) => own !== name);
      const file = safetensors([...others, [name, shape, new Uint8Array(length * sizes[dtype]), dtype]]);
      const error = await instance.weights.load(streamOf(file, piece + 1)).catch((error) => error);
      if (!error) {
        assert.ok(runOf(instance).length > 0);
        instance.weights.set(old);
      } else assert.ok(["weights", "shape"].includes(error.code), `${error.stack}`);
      assert.deepEqual(runOf(instance), oldY);
    }),
    { seed: 8, numRuns: 200 },
  );
});

test("minilm: a float32 checkpoint and its int8 form give equal bits", async () => {
  const minilm = await shippedScalar("minilm");
  const own = shapesOf({ weights: [], layer: minilm.description.layer });
  const [layer, other] = [floatsOf(own), floatsOf(own)];
  const named = (i, name) => `encoder.layer.${i}.${bert(name)}`;
  const entriesOf = (all) =>
    Array.from({ length: 6 }, (_, i) => Object.entries(all[i % all.length]).map(([name, data]) => [
      named(i, name),
      own[name] ?? [data.length, 1],
      data,
      dtypes.get(data.constructor),
    ])).flat();
  const input = randoms(random, 3 * 384);
  const [fromFloats, fromIntegers] = [minilm.create(), minilm.create()];
  await fromFloats.weights.load(new Blob([safetensors(entriesOf([layer, other]))]));
  const integers = [layer, other].map((one) => quantised(one, own).weights);
  await fromIntegers.weights.load(new Blob([safetensors(entriesOf(integers))]));
  const y = fromFloats.run(input, { tokens: 3 });
  assert.deepEqual(fromIntegers.run(input, { tokens: 3 }), y);
  assert.ok(y.every(Number.isFinite));
});
