// Tests that the demo page converts a .tflite file in time that is proportional to the file. In a damaged file, all
// tensors can be one table, whose name is as long as the file.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { transformSync } from "esbuild";

const source = readFileSync(new URL("../demo/tflite-weights.ts", import.meta.url), "utf8");
const { code } = transformSync(source, { loader: "ts" });
const { convertTflite } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

/**
 * A FlatBuffers file of `bytes` bytes with one buffer and as many entries for tensors as fit. Every entry refers to the
 * same tensor. Places are offsets from the beginning of the file, and each refers only to later places. The numbers of
 * fields are those of TensorFlow Lite's schema.
 */
const fileWithOneTensor = (bytes) => {
  const file = new Uint8Array(bytes).fill("a".charCodeAt(0));
  const view = new DataView(file.buffer);
  const put = (place, value) => view.setUint32(place, value, true);
  const refer = (place, to) => put(place, to - place);
  const fields = 8; // describes the fields 0 to 4 of every table
  view.setUint16(fields, 14, true);
  for (let i = 0; i < 5; ++i) view.setUint16(fields + 4 + 2 * i, 4 + 4 * i, true);
  const table = (place) => {
    view.setInt32(place, place - fields, true);
    return { place, field: (index) => place + 4 + 4 * index };
  };
  const list = (field, place, count, element) => {
    refer(field, place);
    put(place, count);
    for (let i = 0; i < count; ++i) refer(place + 4 + 4 * i, element.place);
  };
  const count = (bytes - 512) / 8;
  const end = 256 + 4 * count;
  const [model, subgraph] = [table(32), table(96)];
  const [tensor, buffer] = [table(end), table(end + 32)];
  put(0, model.place);
  list(model.field(2), 64, 1, subgraph);
  list(model.field(4), 80, 1, buffer);
  list(subgraph.field(0), 128, count, tensor);
  put(buffer.field(0), end + 64 - buffer.field(0));
  put(end + 64, 0); // no data
  put(tensor.field(1), 0); // float32
  put(tensor.field(2), 0); // buffer 0
  refer(tensor.field(3), end + 68);
  put(end + 68, bytes - end - 72);
  return file;
};

test("a name that many tensors share is not decoded many times", (context) => {
  const bytes = 80_000;
  let decoded = 0;
  const { decode } = TextDecoder.prototype;
  context.mock.method(TextDecoder.prototype, "decode", function (data, ...rest) {
    decoded += data.byteLength;
    return decode.call(this, data, ...rest);
  });
  assert.throws(() => convertTflite(fileWithOneTensor(bytes)), /not KWT-1/);
  assert.ok(decoded <= bytes, `${decoded} bytes of text in a file of ${bytes} bytes`);
});
