// Computes attention and its projections in TensorFlow.js. Uses the wasm backend, one thread and SIMD.
import * as tf from "@tensorflow/tfjs-core";
import {setThreadsCount, setWasmPaths, version_wasm} from "@tensorflow/tfjs-backend-wasm";

import {causalMask, transposed} from "./matrices.mjs";

export const name = "TensorFlow.js";
export const version = version_wasm;

/** Starts TensorFlow.js. The function folder(name) returns the address of a package. */
export async function start({folder}) {
  setThreadsCount(1);
  tf.env().set("WASM_HAS_MULTITHREAD_SUPPORT", false);  // otherwise, one thread uses the multi-threaded module
  setWasmPaths(`${folder("@tensorflow/tfjs-backend-wasm")}dist/`);
  if (!await tf.setBackend("wasm")) throw new Error("its wasm backend does not start");
  await tf.ready();
}

// Two ways to compute attention: all heads at once, or one head after another. A row of `projected` has the query, the
// key and the value of a token: [tokens][3 model].
const allHeads = ({heads, headWidth, tokens}, projected, mask) => {
  const [query, key, value] = tf.unstack(tf.reshape(projected, [tokens, 3, heads, headWidth]), 1);
  const scores = tf.matMul(tf.transpose(query, [1, 0, 2]), tf.transpose(key, [1, 2, 0]));
  const seen = tf.matMul(tf.softmax(mask ? tf.add(scores, mask) : scores), tf.transpose(value, [1, 0, 2]));
  return tf.reshape(tf.transpose(seen, [1, 0, 2]), [tokens, heads * headWidth]);
};
const headByHead = ({heads, headWidth, tokens}, projected, mask) =>
    tf.concat(Array.from({length: heads}, (_, head) => {
      const part = index => tf.slice(projected, [0, (index * heads + head) * headWidth], [tokens, headWidth]);
      const scores = tf.matMul(part(0), tf.transpose(part(1)));
      return tf.matMul(tf.softmax(mask ? tf.add(scores, mask) : scores), part(2));
    }), 1);

async function make(attend, {tokens, model, heads, causal, x, w: {inWeight, inBias, outWeight, outBias}}) {
  const headWidth = model / heads;
  const scaled = (a, rowOfQueries) => a.map((value, i) => rowOfQueries(i) ? value / Math.sqrt(headWidth) : value);
  const projection = (weight, bias, outputs) => ({
    weight: tf.tensor2d(transposed(weight, outputs, model), [model, outputs]), bias: tf.tensor1d(bias)});
  const into = projection(scaled(inWeight, i => i < model * model), scaled(inBias, i => i < model), 3 * model);
  const out = projection(outWeight, outBias, model);
  const mask = causal ? tf.tensor2d(causalMask(tokens), [tokens, tokens]) : null;
  const linear = (a, {weight, bias}) => tf.fused.matMul({a, b: weight, bias});
  let result;
  return {
    run() {  // copies input and output, like the other peers
      const y = tf.tidy(() => linear(attend({heads, headWidth, tokens}, linear(tf.tensor2d(x, [tokens, model]), into),
                                            mask), out));
      result = y.dataSync();
      y.dispose();
    },
    y: () => result,
    free: () => tf.dispose([into, out, mask]),
  };
}

/**
 * The ways to compute attention, each {form, make}: a name, and a function. make(problem) returns a Promise of {run(),
 * y(), free()}.
 */
export const forms = Object.entries({"all heads at once": allHeads, "head by head": headByHead})
    .map(([form, attend]) => ({form, make: problem => make(attend, problem)}));
