// Tests the memory that `weights.load` uses: it must be proportional to the bytes that arrived, and must be released
// after an error.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../dist/index.js";
import { moduleBytes, randomOf, weightsOf } from "./kernels.mjs";
import { refuses } from "./refuses.mjs";
import { fileOf, safetensors, streamOf } from "./safetensors.mjs";

const kernel = await load(moduleBytes("attention_64_4", "scalar"));
const weights = weightsOf(kernel.description, randomOf(13));
const tensors = kernel.description.weights.map(({ name, shape }) => [name, shape, weights[name]]);
const ready = () => {
  const instance = kernel.create();
  instance.weights.set(weights);
  return instance;
};
/** Returns the number of bytes of an instance's memory. Can also be called while weights are loaded. */
const memoryOf = (instance) => instance.weights.tensor("in_proj_bias").buffer.byteLength;
const page = 65536;

/** Returns a valid file with `bytes` additional bytes that no kernel needs. */
const fileWith = (bytes) => safetensors([...tensors, ["other", [bytes / 4], new Uint8Array(bytes)]]);

/** Returns the header of a valid file of about 4 GB. */
const hugeHeader = () => {
  let at = 0;
  const entry = (shape, bytes) => ({ dtype: "F32", shape, data_offsets: [at, (at += bytes)] });
  const header = Object.fromEntries(tensors.map(([name, shape, data]) => [name, entry(shape, data.byteLength)]));
  return fileOf(JSON.stringify({ ...header, other: entry([950_000_000], 3_800_000_000) }));
};

/**
 * Returns {stream, reached, release}. The stream delivers `pieces`, waits until release() is called, and then ends. The
 * promise `reached` resolves when the reader has taken the last piece and asks for more.
 */
const waiting = (...pieces) => {
  const { promise: reached, resolve: reach } = deferred();
  const { promise: gate, resolve: release } = deferred();
  const pull = async (controller) => {
    const piece = pieces.shift();
    if (piece) return controller.enqueue(piece);
    reach();
    await gate;
    controller.close();
  };
  const stream = new ReadableStream({ pull }, { highWaterMark: 0 }); // no pull before a request
  return { stream, reached, release };
};
const deferred = () => {
  const parts = {};
  parts.promise = new Promise((resolve) => (parts.resolve = resolve));
  return parts;
};

test("truncated streams of growing size release their memory", async () => {
  const instance = ready();
  const before = memoryOf(instance);
  const step = 2 * page;
  const loads = 60;
  for (let i = 1; i <= loads; ++i) {
    const file = fileWith(i * step);
    await refuses(() => instance.weights.load(streamOf(file.subarray(0, -4), page)), "weights", "bytes of");
  }
  const grown = memoryOf(instance) - before;
  assert.ok(grown <= (loads + 4) * step, `${grown} bytes more after files of at most ${loads * step}`);
  assert.deepEqual(instance.weights.tensor("in_proj_bias"), weights.in_proj_bias);
});

test("a file of growing size replaces the earlier file", async () => {
  const instance = ready();
  const before = memoryOf(instance);
  const step = 2 * page;
  const loads = 60;
  for (let i = 1; i <= loads; ++i) {
    await instance.weights.load(fileWith(i * step));
    assert.deepEqual(instance.weights.tensor("in_proj_bias"), weights.in_proj_bias);
  }
  const grown = memoryOf(instance) - before;
  assert.ok(grown <= 3 * (loads + 4) * step, `${grown} bytes more after files of at most ${loads * step}`);
});

test("memory grows as bytes arrive, for any length in a header or from a server", async () => {
  const header = hugeHeader();
  const headers = { "content-length": "3900000000" };
  const sources = [(stream) => stream, (stream) => new Response(stream), (stream) => new Response(stream, { headers })];
  for (const sourceOf of sources) {
    for (const arrived of [0, 100, 10 * page]) {
      const instance = ready();
      const before = memoryOf(instance);
      const { stream, reached, release } = waiting(header, ...(arrived ? [new Uint8Array(arrived)] : []));
      const loading = refuses(() => instance.weights.load(sourceOf(stream)), "weights", "bytes of");
      await reached;
      const grown = memoryOf(instance) - before;
      assert.ok(grown <= 2 * arrived + page, `${grown} bytes more for ${arrived}`);
      release();
      await loading;
    }
  }
});

test("the memory for a header grows as its bytes arrive", async () => {
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, 90_000_000n, true);
  const instance = ready();
  const before = process.memoryUsage().arrayBuffers;
  const { stream, reached, release } = waiting(length, new Uint8Array(1000).fill(32));
  const loading = refuses(() => instance.weights.load(stream), "weights", "expected 90000008, got 1008");
  await reached;
  const taken = process.memoryUsage().arrayBuffers - before;
  assert.ok(taken < 1e6, `${taken} bytes`);
  release();
  await loading;
});

test("a header in many pieces is read completely", async () => {
  const spaces = " ".repeat(300_000);
  const file = safetensors([...tensors, [`other${spaces}`, [1], new Uint8Array(4)]]);
  for (const piece of [7, 5000, 100_000, 1e6]) {
    const instance = kernel.create();
    await instance.weights.load(streamOf(file, piece));
    assert.deepEqual(instance.weights.tensor("in_proj_weight"), weights.in_proj_weight);
    assert.equal(instance.weights.tensor(`other${spaces}`).length, 1);
  }
});

test("memory that cannot grow while bytes arrive", async () => {
  const instance = ready();
  const { grow } = WebAssembly.Memory.prototype;
  let calls = 0;
  WebAssembly.Memory.prototype.grow = function (pages) {
    if (++calls > 2) throw new RangeError("Maximum memory size exceeded");
    return grow.call(this, pages);
  };
  try {
    await refuses(() => instance.weights.load(streamOf(fileWith(64 * page), page)), "memory", "exceeded");
  } finally {
    WebAssembly.Memory.prototype.grow = grow;
  }
  assert.equal(calls, 3);
  assert.deepEqual(instance.weights.tensor("in_proj_bias"), weights.in_proj_bias);
  const bytes = memoryOf(instance);
  await instance.weights.load(fileWith(page));
  assert.equal(memoryOf(instance), bytes, "the memory of the failed load is used again");
});
