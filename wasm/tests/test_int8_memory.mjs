// Tests the memory of an instance while a checkpoint of MiniLM's size is loaded. The memory must never exceed the bytes
// of the tensors as the kernel stores them, plus the workspace, plus 1 MB.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../dist/index.js";
import { bert } from "./checkpoint_names.mjs";
import { shippedScalar } from "./int8_kernels.mjs";
import { refuses } from "./refuses.mjs";
import { shipped } from "./kernels.mjs";

/** Returns the tensors of MiniLM: names and shapes, with the embeddings. */
const minilmTensors = ({ layers, layer }) => [
  ["embeddings.word_embeddings.weight", [30522, 384]],
  ["embeddings.position_embeddings.weight", [512, 384]],
  ...Array.from({ length: layers }, (_, i) =>
    layer
      .filter(({ name }) => !/_weight_(scale|row_sum)$/.test(name))
      .map(({ name, shape }) => [bert(`layers.${i}.${name}`), shape]),
  ).flat(),
];

const product = (shape) => shape.reduce((a, b) => a * b, 1);
const sizes = { F32: 4, F16: 2, I8: 1 };

/** Returns a stream of a file in pieces of 64 KB. Floats are 0.5, integers are 63, and scales are 0.5. */
const streamOf = (tensors, size) => {
  let at = 0;
  const header = Object.fromEntries(
    tensors.map(([name, shape, dtype]) => {
      const begin = at;
      return [name, { dtype, shape, data_offsets: [begin, (at += product(shape) * sizes[dtype])] }];
    }),
  );
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(text.length), true);
  const piece = new Uint8Array(65536);
  const patterns = { F32: [0, 0, 0, 63], F16: [0, 56], I8: [63] };
  function* pieces() {
    yield length;
    yield text;
    for (const [, shape, dtype] of tensors) {
      const pattern = patterns[dtype];
      for (let i = 0; i < piece.length; ++i) piece[i] = pattern[i % pattern.length];
      for (let rest = product(shape) * sizes[dtype]; rest > 0; rest -= piece.length) yield piece.slice(0, Math.min(rest, piece.length));
    }
  }
  const source = pieces();
  const bytes = 8 + text.length + at;
  const stream = new ReadableStream({
    pull(controller) {
      const { done, value } = source.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  return { source: new Response(stream, { headers: { "content-length": `${size ?? bytes}` } }), bytes };
};

const toInt8 = ([name, shape]) =>
  shape.length === 2
    ? [
        [name, shape, "I8"],
        [`${name}_scale`, [shape[0], 1], "F32"],
      ]
    : [[name, shape, "F32"]];

/** Calls `act`. Returns the largest size of any WebAssembly memory that grew during the call. */
const peakOf = async (act) => {
  const { grow } = WebAssembly.Memory.prototype;
  let peak = 0;
  WebAssembly.Memory.prototype.grow = function (pages) {
    const before = grow.call(this, pages);
    peak = Math.max(peak, this.buffer.byteLength);
    return before;
  };
  try {
    await act();
  } finally {
    WebAssembly.Memory.prototype.grow = grow;
  }
  return peak;
};

const storedBytes = (tensors, isConverted, convertedBytes) =>
  tensors.reduce((sum, tensor) => {
    const [, shape, dtype] = tensor;
    return sum + (isConverted(tensor) ? convertedBytes(shape) : product(shape) * sizes[dtype]);
  }, 0);
const isLayers = ([name]) => name.startsWith("encoder.layer.");
/**
 * Returns the number of bytes that an int8 kernel stores for a tensor. A matrix has a byte for each weight, and 8 bytes
 * for each row: a scale and a sum. All other tensors are float32.
 */
const int8Bytes = (shape) => (shape.length === 2 ? product(shape) + 8 * shape[0] : 4 * product(shape));

for (const [what, precision, dtype, bytesOf] of [
  ["F32 in an int8 kernel", "int8", "F32", (all) => storedBytes(all, isLayers, int8Bytes)],
  ["F16 in an int8 kernel", "int8", "F16", (all) => storedBytes(all, isLayers, int8Bytes)],
  ["I8 in an int8 kernel", "int8", "I8"],
  ["F32 in a float32 kernel", "float32", "F32"],
  ["F16 in a float32 kernel", "float32", "F16", (all) => storedBytes(all, isLayers, (shape) => 4 * product(shape))],
]) {
  test(`memory: ${what}`, async (t) => {
    const kernel = precision === "int8" ? await shippedScalar("minilm") : await load(shipped("minilm"), { variant: "scalar" });
    const { description } = kernel;
    const named = minilmTensors(description);
    const tensors = dtype === "I8" ? named.flatMap(toInt8) : named.map(([name, shape]) => [name, shape, dtype]);
    const instance = kernel.create();
    const { source, bytes } = streamOf(tensors);
    const peak = await peakOf(() => instance.weights.load(source));
    const stored = bytesOf ? bytesOf(tensors) : bytes;
    const most = stored + description.workspace + 2 ** 20;
    t.diagnostic(`file ${bytes}, stored ${stored}, workspace ${description.workspace}, peak ${peak}`);
    assert.ok(peak > stored, "the memory is seen");
    assert.ok(peak <= most, `${peak} bytes, at most ${most}`);
    const y = instance.run(new Float32Array(384).fill(1), { tokens: 1 });
    assert.ok(y.every(Number.isFinite));
    instance.free();
  });
}

test("a truncated int8 file releases its memory", async () => {
  const kernel = await shippedScalar("attention_384_12");
  const tensors = [
    ["in_proj_weight", [1152, 384], "F32"],
    ["in_proj_bias", [1152], "F32"],
    ["out_proj.weight", [384, 384], "F32"],
    ["out_proj.bias", [384], "F32"],
  ];
  const instance = kernel.create();
  await instance.weights.load(streamOf(tensors).source);
  const before = instance.weights.tensor("in_proj_bias").buffer.byteLength;
  const cut = async () => {
    const { source } = streamOf(tensors);
    const bytes = new Uint8Array(await source.arrayBuffer());
    await refuses(() => instance.weights.load(new Blob([bytes]).slice(0, -4).stream()), "weights", "bytes of");
  };
  await cut();
  const once = instance.weights.tensor("in_proj_bias").buffer.byteLength;
  for (let i = 0; i < 10; ++i) await cut();
  assert.equal(instance.weights.tensor("in_proj_bias").buffer.byteLength, once);
  assert.ok(once - before <= 2 ** 20 + 1.2e6, `${once - before} bytes more`);
});
