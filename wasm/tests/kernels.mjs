// Code that several tests use: random numbers, modules that this engine runs, and weights for the binding and the
// oracle.
import { readdirSync, readFileSync } from "node:fs";
import "../engine/relaxed_simd.mjs";
import { attention, decoderLayer, encoderLayer, layerNorm } from "./oracle.mjs";

export const modules = new URL("../dist/modules/", import.meta.url);
export const variants = ["relaxed", "simd", "scalar"];

/** The URL of a shipped kernel, which `load` takes as its source. With int8 weights, the name ends with _int8. */
export const shipped = (name) => new URL(name, modules);
export const moduleBytes = (name, variant) => readFileSync(new URL(`${name}.${variant}.wasm`, modules));
/** The module with the front end of the keyword spotter, which is the only shipped module that is not a kernel. */
export const frontEndName = "keywords_front_end";
export const shippedNames = [
  ...new Set(
    readdirSync(modules)
      .filter((name) => /\.wasm$/.test(name) && !name.startsWith(`${frontEndName}.`))
      .map((name) => name.split(".")[0]),
  ),
];

/**
 * Returns true if this engine runs the module. Asks the engine and not the package, because the tests check the
 * package.
 */
export const runs = (name, variant) => WebAssembly.validate(moduleBytes(name, variant));

/** Returns a random generator. Its algorithm, xorshift32, gives equal numbers on every machine. */
export const randomOf = (seed) => () => {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return (seed >>> 0) / 2 ** 31 - 1;
};
export const randoms = (random, count, size = 1, mean = 0) =>
  Float32Array.from({ length: count }, () => mean + size * random());

export const rowsOf = (flat, width) =>
  Array.from({ length: flat.length / width }, (_, i) => Array.from(flat.subarray(i * width, (i + 1) * width)));

/**
 * Returns random weights for a kernel, by the names of the members in the C struct of weights. Matrices are scaled by
 * 1.5 / sqrt(columns), so that a linear map neither enlarges nor shrinks its inputs much.
 */
export const weightsOf = (description, random) => {
  const entries = [];
  for (let i = 0; i < (description.layers ?? 1); ++i) {
    for (const { name, shape, type } of description.layer ?? []) {
      entries.push([description.layers ? `layers.${i}.${name}` : name, shape, type]);
    }
  }
  for (const { name, shape, type } of description.weights) entries.push([name, shape, type]);
  const columns = new Map(entries.map(([name, shape]) => [`${name}_scale`, shape[1]]));
  const given = entries.filter(([, , type]) => type !== "int32"); // the binding computes the row sums
  return Object.fromEntries(
    given.map(([name, shape, type]) => {
      const count = shape.reduce((a, b) => a * b, 1);
      if (type === "int8") return [name, Int8Array.from({ length: count }, () => Math.round(127 * random()))];
      if (/_weight_scale$/.test(name)) {
        const mean = 1.5 / Math.sqrt(columns.get(name)) / 127;
        return [name, randoms(random, count, mean / 2, mean)];
      }
      if (/norm.?_weight/.test(name)) return [name, randoms(random, count, 0.5, 1)];
      return [name, randoms(random, count, shape.length > 1 ? 1.5 / Math.sqrt(shape[1]) : 0.5)];
    }),
  );
};

/**
 * Returns [matrix, bias], as oracle.mjs reads weights. The result has `rows` rows of the matrix `name`, from row
 * `first` on, and the biases of these rows. By default, it has all rows. If the matrix is int8, it becomes {integers,
 * scale, bits}.
 */
const matrixOf = (weights, name, bits, columns = 1, first = 0, rows = Infinity) => {
  const matrix = weights[`${name}_weight`];
  const bias = weights[`${name}_bias`]?.subarray(first, first + rows);
  if (!matrix) return [undefined, bias];
  const part = matrix.subarray(first * columns, (first + rows) * columns);
  const scale = weights[`${name}_weight_scale`]?.subarray(first, first + rows);
  return [scale ? { integers: part, scale, bits } : part, bias];
};

/** Returns the weights of an attention, as oracle.mjs reads them. In `weights`, their names begin with `at`. */
const attentionOf = (weights, at, model, bits) => {
  const packed = weights[`${at}in_proj_weight`];
  const third = (i) => matrixOf(weights, `${at}in_proj`, bits, model, i * model, model);
  const one = (part) => matrixOf(weights, at + part, bits);
  const [q, k, v] = packed ? [0, 1, 2].map(third) : ["query", "key", "value"].map((name) => one(`${name}_proj`));
  return { q, k, v, out: one("out_proj") };
};

/**
 * Returns the weights of one layer, as oracle.mjs reads them. In `weights`, the names of the layer's tensors begin with
 * `at`. For int8 weights, `bits` is the number of bits to which inputs are quantised.
 */
export const parts = (weights, at, model, bits) => {
  const names = ["linear1", "linear2", "norm1", "norm2", "norm3"];
  const others = Object.fromEntries(names.map((name) => [name, matrixOf(weights, at + name, bits)]));
  const has = (name) => weights[`${at}${name}.out_proj_weight`];
  const of = (name) => attentionOf(weights, at + name, model, bits);
  if (has("self_attention")) return { ...of("self_attention."), cross: of("cross_attention."), ...others };
  return { ...of(has("attention") ? "attention." : ""), ...others };
};

/** Returns the form of a kernel's layers, as oracle.mjs reads it. */
const formOf = ({ heads, arguments: given }) => {
  const argument = (name, usual) => new RegExp(`\\b${name} (\\S+)`).exec(given)?.[1] ?? usual;
  const epsilon = Number(argument("EPSILON", "1e-5"));
  return { heads, norm: argument("NORM", "post"), activation: argument("ACTIVATION", "relu"), epsilon };
};

/**
 * Returns what a decoder must compute, according to oracle.mjs: the rows of y, and the attention weights of every layer
 * and head. `masks` are the functions maySee and maySeeMemory.
 */
export const expectedOfDecoder = (description, weights, x, memory, queries, keys, masks) => {
  const { model, layers = 1, activationBits } = description;
  const form = formOf(description);
  let rows = rowsOf(x, model);
  const [maps, memoryMaps] = [[], []];
  for (let i = 0; i < layers; ++i) {
    const asking = i + 1 < layers ? rows.length : queries; // all layers except the last compute all tokens
    const ofLayer = parts(weights, description.layers ? `layers.${i}.` : "", model, activationBits);
    const layer = decoderLayer(rows, rowsOf(memory, model), ofLayer, form, asking, keys, masks);
    rows = layer.y;
    maps.push(layer.maps);
    memoryMaps.push(layer.memoryMaps);
  }
  if (weights.norm_weight) rows = layerNorm([weights.norm_weight, weights.norm_bias], form.epsilon, rows);
  return { y: rows, maps, memoryMaps };
};

/**
 * Returns what the kernel must compute, according to oracle.mjs: the rows of y, and the attention weights of every
 * layer and head. maySee(query, key) is the mask. turns[layer] is the rotary embedding of a layer of a stack.
 */
export const expected = (description, weights, x, queries, keys, maySee, turns = []) => {
  const { model, heads, kind, layers, activationBits } = description;
  let rows = rowsOf(x, model);
  if (kind === "attention") {
    const { y, maps } = attention(
      rows.slice(0, queries),
      rows.slice(0, keys),
      parts(weights, "", model, activationBits),
      heads,
      maySee,
    );
    return { y, maps: [maps] };
  }
  const form = formOf(description);
  const all = [];
  for (let i = 0; i < (layers ?? 1); ++i) {
    // All layers except the last compute all tokens, because the next layer reads all tokens. The last layer computes
    // only the queries.
    const asking = i + 1 < (layers ?? 1) ? rows.length : queries;
    const at = layers ? `layers.${i}.` : "";
    const ofLayer = parts(weights, at, model, activationBits);
    const { y, maps } = encoderLayer(rows, ofLayer, { ...form, turn: turns[i] }, asking, keys, maySee);
    rows = y;
    all.push(maps);
  }
  if (weights.norm_weight) rows = layerNorm([weights.norm_weight, weights.norm_bias], form.epsilon, rows);
  return { y: rows, maps: all };
};
