// Writes LiteRT models as bytes: a chain of fully connected layers with int8 weights and float32 inputs. The indices of
// fields come from LiteRT's schema (schema.fbs).
import {Builder} from "flatbuffers";

const [FLOAT32, INT8] = [0, 9];  // TensorType
const FULLY_CONNECTED = 9;       // BuiltinOperator
const FULLY_CONNECTED_OPTIONS = 8;  // BuiltinOptions
const offset = 4, alignment = 16;

/**
 * Writes the tables of a FlatBuffers file. A field of a table is [index, kind, value]. A kind such as "Int8" selects
 * the function of Builder that adds the field (addFieldInt8).
 */
class Tables extends Builder {
  table(...fields) {
    this.startObject(1 + Math.max(-1, ...fields.map(([number]) => number)));
    for (const [number, kind, value] of fields) this[`addField${kind}`](number, value, kind === "Int8" ? -1 : 0);
    return this.endObject();
  }
  list(offsets) {
    this.startVector(offset, offsets.length, offset);
    offsets.toReversed().forEach(each => this.addOffset(each));
    return this.endVector();
  }
  integers(values) {
    this.startVector(4, values.length, 4);
    values.toReversed().forEach(value => this.addInt32(value));
    return this.endVector();
  }
  floats(values) {
    this.startVector(4, values.length, 4);
    for (let i = values.length - 1; i >= 0; --i) this.addFloat32(values[i]);
    return this.endVector();
  }
  zeroPoints(count) {
    this.startVector(8, count, 8);
    for (let i = 0; i < count; ++i) this.addInt64(0n);
    return this.endVector();
  }
  bytes(values) {
    this.startVector(1, values.byteLength, alignment);
    this.space = this.space - values.byteLength;
    this.bb.bytes().set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), this.space);
    return this.endVector();
  }
}

/**
 * Returns a LiteRT model as bytes. The model computes the given products one after another, each on the result of the
 * previous product. `products` is [{rows, columns, weight: Int8Array, scale: Float32Array}]. The input of the model is
 * float32 [tokens][columns].
 */
export function chainModel(tokens, products) {
  const to = new Tables(1 << 16);
  const buffers = [to.table()];  // the first buffer must be empty
  const tensors = [];
  const tensor = (shape, type, buffer, ...more) => {
    const parts = [[0, "Offset", to.integers(shape)], [3, "Offset", to.createString(`tensor_${tensors.length}`)]];
    tensors.push(to.table(...parts, [1, "Int8", type], [2, "Int32", buffer], ...more));
    return tensors.length - 1;
  };
  const constant = (shape, type, values, ...more) => {
    buffers.push(to.table([0, "Offset", to.bytes(values)]));
    return tensor(shape, type, buffers.length - 1, ...more);
  };
  const quantised = ({rows, columns, weight, scale}) => {
    const quantisation = to.table([2, "Offset", to.floats(scale)], [3, "Offset", to.zeroPoints(rows)]);
    return constant([rows, columns], INT8, weight, [4, "Offset", quantisation]);
  };
  const input = tensor([tokens, products[0].columns], FLOAT32, 0);
  let last = input;
  const operators = products.map(product => {
    const inputs = [last, quantised(product), constant([product.rows], FLOAT32, new Float32Array(product.rows))];
    last = tensor([tokens, product.rows], FLOAT32, 0);
    return to.table([1, "Offset", to.integers(inputs)], [2, "Offset", to.integers([last])],
                    [3, "Int8", FULLY_CONNECTED_OPTIONS], [4, "Offset", to.table()]);
  });
  const graph = to.table([0, "Offset", to.list(tensors)], [1, "Offset", to.integers([input])],
                         [2, "Offset", to.integers([last])], [3, "Offset", to.list(operators)]);
  const code = to.table([0, "Int8", FULLY_CONNECTED], [2, "Int32", 1], [3, "Int32", FULLY_CONNECTED]);
  const model = to.table([0, "Int32", 3], [1, "Offset", to.list([code])], [2, "Offset", to.list([graph])],
                         [4, "Offset", to.list(buffers)]);
  to.finish(model, "TFL3");
  return to.asUint8Array();
}
