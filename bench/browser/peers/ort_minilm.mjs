// Computes MiniLM in ONNX Runtime Web without transformers.js. Uses the wasm backend and one thread. Ladon's tokenizer
// makes the token ids.
import * as ort from "onnxruntime-web/wasm";

import {models, pathOf} from "../minilm/models.mjs";
import {start as startRuntime} from "./ort.mjs";

export const name = "ONNX Runtime Web";
let read;

export async function start(host) {
  ({read} = host);
  await startRuntime(host);
}

/**
 * Loads the ONNX file models[form] of MiniLM. Returns {embed, ids, free}. embed(text) returns a Promise of the text's
 * vector.
 */
export async function load(form, ids) {
  const session = await ort.InferenceSession.create(await read(pathOf(models[form])), {executionProviders: ["wasm"]});
  const tensorOf = (values, count) => new ort.Tensor("int64", BigInt64Array.from(values, BigInt), [1, count]);
  return {
    async embed(text) {
      const found = ids(text), {length} = found;
      const {last_hidden_state: {data}} = await session.run({
        input_ids: tensorOf(found, length), attention_mask: tensorOf(Array(length).fill(1), length),
        token_type_ids: tensorOf(Array(length).fill(0), length)});
      return unitMean(data, length);
    },
    ids,
    free: () => session.release(),
  };
}

// Returns the mean over the tokens, scaled to length 1.
function unitMean(data, tokens) {
  const width = data.length / tokens, sum = new Float64Array(width);
  for (let i = 0; i < data.length; ++i) sum[i % width] += data[i];
  const length = Math.hypot(...sum);
  return Float32Array.from(sum, value => value / length);
}
