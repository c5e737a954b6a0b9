// Converts the published file of KWT-1 from the format of TensorFlow Lite to safetensors. The tensors get PyTorch's
// names, as in examples/keywords/tflite_to_safetensors.py.

const layers = 12;

/**
 * Describes the tensors of the safetensors file: a map from a tensor's name to {shape, names}. `names` are the
 * constants of the tflite file that form the tensor, one after another.
 */
function sources(): Map<string, { shape: readonly number[]; names: readonly string[] }> {
  const found = new Map([
    ["class_token", { shape: [64], names: ["class_emb"] }],
    ["position", { shape: [99, 64], names: ["pos_emb"] }],
    ["embed.weight", { shape: [64, 40], names: ["kws_transformer/dense/Tensordot/MatMul"] }],
    ["embed.bias", { shape: [64], names: ["kws_transformer/dense/bias"] }],
    ["head.weight", { shape: [12, 64], names: ["sequential_12/dense_73/MatMul"] }],
    ["head.bias", { shape: [12], names: ["sequential_12/dense_73/bias"] }],
  ]);
  for (let layer = 0; layer < layers; ++layer) {
    for (const [name, shape, names] of sourcesOfLayer(layer)) found.set(`layers.${layer}.${name}`, { shape, names });
  }
  return found;
}

/**
 * In Keras, a layer's name contains its number among the layers of its kind: "dense" is number 0, and "dense_1" is
 * number 1.
 */
const numbered = (name: string, number: number) => (number === 0 ? name : `${name}_${number}`);

function sourcesOfLayer(layer: number): [name: string, shape: number[], names: string[]][] {
  const block = numbered("kws_transformer/transformer_block", layer);
  const attention = `${block}/${numbered("multi_head_self_attention", layer)}`;
  const feedForward = `${block}/${numbered("sequential", layer)}`;
  const dense = (i: number) => numbered("dense", 6 * layer + i);
  const norm = (i: number) => `${block}/${numbered("layer_normalization", 2 * layer + i - 1)}`;
  const weight = (of: string, i: number) => `${of}/${dense(i)}/Tensordot/MatMul`;
  const bias = (of: string, i: number) => `${of}/${dense(i)}/bias`;
  return [
    ["self_attn.in_proj_weight", [192, 64], [1, 2, 3].map((i) => weight(attention, i))],
    ["self_attn.out_proj.weight", [64, 64], [weight(attention, 4)]],
    ["self_attn.out_proj.bias", [64], [bias(attention, 4)]],
    ["linear1.weight", [256, 64], [weight(feedForward, 5)]],
    ["linear1.bias", [256], [bias(feedForward, 5)]],
    ["linear2.weight", [64, 256], [weight(feedForward, 6)]],
    ["linear2.bias", [64], [bias(feedForward, 6)]],
    ["norm1.weight", [64], [`${norm(1)}/gamma`]],
    ["norm1.bias", [64], [`${norm(1)}/beta`]],
    ["norm2.weight", [64], [`${norm(2)}/gamma`]],
    ["norm2.bias", [64], [`${norm(2)}/beta`]],
  ];
}

/**
 * A table in a FlatBuffers file (https://flatbuffers.dev/internals). `at` and all other places are offsets from the
 * beginning of the file.
 */
class Table {
  constructor(
    private readonly view: DataView,
    private readonly at: number,
  ) {}

  /** Returns the place of field number `index`, or 0 if the table does not have the field. */
  field(index: number): number {
    const fields = this.at - this.view.getInt32(this.at, true);
    const entry = 4 + 2 * index;
    const offset = entry < this.view.getUint16(fields, true) ? this.view.getUint16(fields + entry, true) : 0;
    return offset && this.at + offset;
  }

  /** Field number `index` is a vector. Returns the number of its elements, and the place of its first element. */
  vector(index: number): { count: number; first: number } {
    const field = this.field(index);
    if (field === 0) return { count: 0, first: 0 };
    const begin = field + this.view.getUint32(field, true);
    return { count: this.view.getUint32(begin, true), first: begin + 4 };
  }

  tables(index: number): Table[] {
    const { count, first } = this.vector(index);
    return Array.from({ length: count }, (_, i) => {
      const place = first + 4 * i;
      return new Table(this.view, place + this.view.getUint32(place, true));
    });
  }
}

/**
 * Returns a map from the name of each float32 constant in the file to its bytes. The numbers in the code are the
 * indices of fields in TensorFlow Lite's schema. Skips names of more than `longestName` bytes: many tensors of a
 * damaged file can share one name that is as long as the file.
 */
function constants(file: Uint8Array, longestName: number): Map<string, Uint8Array> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const model = new Table(view, view.getUint32(0, true));
  const buffers = model.tables(4);
  const found = new Map<string, Uint8Array>();
  for (const tensor of model.tables(2)[0]!.tables(0)) {
    const type = tensor.field(1);
    const buffer = tensor.field(2);
    if ((type && view.getUint8(type) !== 0) || !buffer) continue; // 0: float32, the default
    const data = buffers[view.getUint32(buffer, true)]!.vector(0);
    const name = tensor.vector(3);
    if (name.count > longestName) continue;
    const bytesOf = ({ count, first }: typeof data) => file.subarray(first, first + count);
    found.set(new TextDecoder().decode(bytesOf(name)), bytesOf(data));
  }
  return found;
}

/** Returns true if the bytes begin like a file of TensorFlow Lite. */
export const isTflite = (file: Uint8Array): boolean => new TextDecoder("latin1").decode(file.subarray(4, 8)) === "TFL3";

/** Converts the tflite file `file` to a safetensors file. Throws if `file` is damaged or has another model. */
export function convertTflite(file: Uint8Array): Blob {
  const wanted = sources();
  const longestName = Math.max(...[...wanted.values()].flatMap(({ names }) => names.map((name) => name.length)));
  let found: Map<string, Uint8Array>;
  try {
    found = constants(file, longestName);
  } catch {
    throw new Error("the .tflite file is damaged");
  }
  const header: Record<string, object> = {};
  const pieces: Uint8Array[] = [];
  let end = 0;
  for (const [name, { shape, names }] of wanted) {
    const begin = end;
    for (const one of names) {
      const bytes = found.get(one);
      if (!bytes) throw new Error(`the .tflite file is not KWT-1: it lacks ${one}`);
      pieces.push(bytes);
      end += bytes.length;
    }
    const expected = 4 * shape.reduce((a, b) => a * b);
    if (end - begin !== expected) throw new Error(`${name} must have ${expected} bytes, but has ${end - begin}`);
    header[name] = { dtype: "F32", shape, data_offsets: [begin, end] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(text.length), true);
  return new Blob([length, text, ...pieces] as BlobPart[]);
}
