// Runs the tflite files of KWT-1 in LiteRT.js, in one thread. LiteRT.js uses the kernels of XNNPACK, with relaxed SIMD.
import {loadAndCompile, Tensor} from "@litertjs/core";

export {start} from "./litert.mjs";

export const kind = "relaxed";

/**
 * Loads a tflite file of KWT-1 and returns {logits(x), free()}. `shape` is the shape of x. The array that logits(x)
 * returns is valid until the next call.
 */
export async function load(tflite, shape) {
  const model = await loadAndCompile(tflite, {accelerator: "wasm", cpuOptions: {numThreads: 1}});
  let outputs = [];
  return {
    async logits(x) {
      for (const each of outputs) each.delete();
      const input = new Tensor(x, shape);
      outputs = await model.run([input]);
      input.delete();
      return outputs[0].toTypedArray();
    },
    free: () => model.delete(),
  };
}
