// Computes attention with its projections in ONNX Runtime Web. Uses the wasm backend and one thread. Several models
// compute attention with different operators. The fastest model depends on the version and the shape, so this file
// offers all models.
import * as ort from "onnxruntime-web/wasm";

import {model, node, tensor} from "./onnx.mjs";
import {causalMask, columns, transposed} from "./matrices.mjs";

export const name = "ONNX Runtime Web";
export const version = ort.env.versions.web;

/** Starts ONNX Runtime Web. `read` returns the bytes of a file of the build. */
export async function start({read}) {
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmBinary = await read("node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm");
  ort.env.logLevel = "error";
}

// Each entry makes an ONNX model that computes attention with different operators. The first two entries use operators
// of Microsoft's domain "com.microsoft". The third entry uses an operator that ONNX has since opset 23. The last entry
// uses only MatMul, Softmax and other basic operators.
const attentionOperators = {
  "com.microsoft.Attention": ({tokens, model: width, heads, causal, w}) => [[1, tokens, width], 17, [
    tensor("in_weight", [width, 3 * width], transposed(w.inWeight, 3 * width, width)),
    tensor("in_bias", [3 * width], w.inBias),
    node("Attention", ["x", "in_weight", "in_bias"], ["seen"],
         {num_heads: heads, unidirectional: Number(causal)}, "com.microsoft"),
    ...outProjection(width, w),
  ]],
  "com.microsoft.MultiHeadAttention": ({tokens, model: width, heads, causal, w}) => [[1, tokens, width], 17, [
    ...projections(width, w),
    node("MultiHeadAttention", ["query", "key", "value"], ["seen"],
         {num_heads: heads, unidirectional: Number(causal)}, "com.microsoft"),
    ...outProjection(width, w),
  ]],
  "ai.onnx.Attention": ({tokens, model: width, heads, causal, w}) => [[1, tokens, width], 23, [
    ...projections(width, w),
    node("Attention", ["query", "key", "value"], ["seen"],
         {q_num_heads: heads, kv_num_heads: heads, is_causal: Number(causal)}),
    ...outProjection(width, w),
  ]],
  "MatMul, Softmax": ({tokens, model: width, heads, causal, w}) => {
    const headWidth = width / heads;
    const split = (name, order) => [node("Reshape", [name, "split"], [`${name}_split`]),
                                    node("Transpose", [`${name}_split`], [`${name}_heads`], {perm: order})];
    return [[1, tokens, width], 17, [
      tensor("split", [4], BigInt64Array.from([1, tokens, heads, headWidth].map(BigInt))),
      tensor("joined", [3], BigInt64Array.from([1, tokens, width].map(BigInt))),
      ...projections(width, w, 1 / Math.sqrt(headWidth)),
      ...split("query", [0, 2, 1, 3]), ...split("key", [0, 2, 3, 1]), ...split("value", [0, 2, 1, 3]),
      node("MatMul", ["query_heads", "key_heads"], [causal ? "all_scores" : "scores"]),
      ...(causal ? [tensor("mask", [1, 1, tokens, tokens], causalMask(tokens)),
                    node("Add", ["all_scores", "mask"], ["scores"])] : []),
      node("Softmax", ["scores"], ["weights"], {axis: 3}),
      node("MatMul", ["weights", "value_heads"], ["seen_heads"]),
      node("Transpose", ["seen_heads"], ["seen_split"], {perm: [0, 2, 1, 3]}),
      node("Reshape", ["seen_split", "joined"], ["seen"]),
      ...outProjection(width, w),
    ]];
  },
};

function linear(input, output, width, weight, bias) {
  return [tensor(`${output}_weight`, [width, width], weight), tensor(`${output}_bias`, [width], bias),
          node("MatMul", [input, `${output}_weight`], [`${output}_product`]),
          node("Add", [`${output}_product`, `${output}_bias`], [output])];
}
function projections(width, {inWeight, inBias}, queryScale = 1) {
  const weight = transposed(inWeight, 3 * width, width);
  return ["query", "key", "value"].flatMap((output, part) => {
    const scale = part === 0 ? queryScale : 1;
    return linear("x", output, width, columns(weight, 3 * width, part * width, width).map(a => a * scale),
                  inBias.slice(part * width, (part + 1) * width).map(a => a * scale));
  });
}
const outProjection = (width, {outWeight, outBias}) =>
    linear("seen", "y", width, transposed(outWeight, width, width), outBias);

/**
 * The ways to compute attention, each {form, make}: the name of the operator, and a function that loads its model.
 * make(problem) returns a Promise of {run(), y(), free()}, and run() returns a Promise.
 */
export const forms = Object.entries(attentionOperators).map(([form, write]) => ({form, make: problem => {
  const [extents, opset, parts] = write(problem);
  return makeSession(model(parts, extents, opset), problem.x, extents);
}}));

const noBias = rows => new Float32Array(rows);
// The operators with which ONNX Runtime Web computes the 12 matrix products of products/numbers.mjs. Each product reads
// the result of the previous product.
const productOperators = {
  MatMul: {precision: "float32", write: (input, output, {rows, columns, floats}) => [
    tensor(`${output}_weight`, [columns, rows], transposed(floats, rows, columns)),
    node("MatMul", [input, `${output}_weight`], [output]),
  ]},
  "com.microsoft.DynamicQuantizeMatMul": {precision: "int8", write: (input, output, {rows, columns, weight, scale}) => [
    tensor(`${output}_weight`, [columns, rows], transposed(weight, rows, columns)),
    tensor(`${output}_scale`, [rows], scale),
    tensor(`${output}_zero`, [rows], new Int8Array(rows)),
    tensor(`${output}_bias`, [rows], noBias(rows)),
    node("DynamicQuantizeMatMul", [input, ...["weight", "scale", "zero", "bias"].map(part => `${output}_${part}`)],
         [output], {}, "com.microsoft"),
  ]},
};

/**
 * The ways to compute the 12 matrix products of products/numbers.mjs, each {form, precision, make}. `form` is the name
 * of an operator.
 */
export const products = Object.entries(productOperators).map(([form, {precision, write}]) => ({form, precision,
  make({x, tokens, products: chain}) {
    const nameOf = i => i === 0 ? "x" : i === chain.length ? "y" : `y${i}`;
    const parts = chain.flatMap((product, i) => write(nameOf(i), nameOf(i + 1), product));
    const extents = [tokens, chain[0].columns];
    return makeSession(model(parts, extents), x, extents);
  },
}));

async function makeSession(bytes, x, extents) {
  const session = await ort.InferenceSession.create(bytes, {executionProviders: ["wasm"]});
  const feeds = {x: new ort.Tensor("float32", x, extents)};
  let results;
  return {
    async run() { results = await session.run(feeds); },
    y: () => results.y.data,
    free: () => session.release(),
  };
}
