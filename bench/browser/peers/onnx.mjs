// Writes ONNX models as bytes. A model is a message of Protocol Buffers, which this file encodes without a library. The
// numbers of the fields come from onnx.proto3.
const varint = n => {
  const bytes = [];
  for (let rest = BigInt(n); ; rest >>= 7n) {
    if (rest < 128n) return [...bytes, Number(rest)];
    bytes.push(Number(rest & 127n) | 128);
  }
};
const concat = parts => {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let place = 0;
  for (const part of parts) {
    all.set(part, place);
    place += part.length;
  }
  return all;
};
const integer = (field, value) => Uint8Array.from([...varint(field << 3), ...varint(value)]);
const float = (field, value) =>
    concat([varint(field << 3 | 5), new Uint8Array(Float32Array.of(value).buffer)]);
const bytes = (field, value) => concat([varint(field << 3 | 2), varint(value.length), value]);
const text = (field, value) => bytes(field, new TextEncoder().encode(value));
const message = (field, ...parts) => bytes(field, concat(parts));

/** Returns the bytes of a constant (TensorProto). `data` is a Float32Array, an Int8Array or a BigInt64Array. */
export function tensor(name, extents, data) {
  const type = data instanceof BigInt64Array ? 7 : data instanceof Int8Array ? 3 : 1;
  return message(5, ...extents.map(extent => integer(1, extent)), integer(2, type), text(8, name),
                 bytes(9, new Uint8Array(data.buffer, data.byteOffset, data.byteLength)));
}

/**
 * Returns the bytes of a node (NodeProto). `attributes` has values such as {axis: 1, scale: {float: 0.5}, perm: [0, 2,
 * 1]}. `domain` is "" or "com.microsoft".
 */
export function node(operation, inputs, outputs, attributes = {}, domain = "") {
  const attribute = ([name, value]) =>
      Array.isArray(value) ? message(5, text(1, name), ...value.map(i => integer(8, i)), integer(20, 7)) :
      typeof value === "object" ? message(5, text(1, name), float(2, value.float), integer(20, 1)) :
      message(5, text(1, name), integer(3, value), integer(20, 2));
  return message(1, ...inputs.map(name => text(1, name)), ...outputs.map(name => text(2, name)),
                 text(3, outputs[0]), text(4, operation), ...Object.entries(attributes).map(attribute),
                 text(7, domain));
}

/** Returns a model with one input x and one output y. Both are float32 and have the given extents. */
export function model(nodesAndTensors, extents, opset = 17) {
  const value = (field, name) => message(field, text(1, name), message(2, message(1, integer(1, 1),
      message(2, ...extents.map(extent => message(1, integer(1, extent)))))));
  return concat([
    integer(1, 10),
    message(7, ...nodesAndTensors, text(2, "attention"), value(11, "x"), value(12, "y")),
    message(8, text(1, ""), integer(2, opset)),
    message(8, text(1, "com.microsoft"), integer(2, 1)),
  ]);
}
