// Computes products with int8 weights in LiteRT.js, in one thread. LiteRT.js uses the kernels of XNNPACK, with relaxed
// SIMD.
import {loadAndCompile, loadLiteRt, Tensor} from "@litertjs/core";

import {chainModel} from "./tflite.mjs";

export const name = "LiteRT.js";
export const kind = "relaxed";

/** Starts LiteRT.js. The function folder(name) returns the address of a package. */
export async function start({folder}) {
  // LiteRT.js calls importScripts, but module workers do not have importScripts. So this function implements
  // importScripts.
  globalThis.importScripts = url => {
    const request = new XMLHttpRequest();
    request.open("GET", url, false);
    request.send();
    (0, eval)(request.responseText);
  };
  const scripts = new URL(`${folder("@litertjs/core")}wasm/`, location.href);
  globalThis.Module = {locateFile: file => new URL(file, scripts).href};
  await loadLiteRt(scripts.href);
}

/** The ways in which LiteRT.js computes the 12 matrix products of products/numbers.mjs. There is only one. */
export const products = [{form: "FULLY_CONNECTED", precision: "int8", async make({x, tokens, products: chain}) {
  const model = await loadAndCompile(chainModel(tokens, chain), {accelerator: "wasm", cpuOptions: {numThreads: 1}});
  const input = new Tensor(x, [tokens, chain[0].columns]);
  let outputs = [];
  return {
    async run() {
      for (const each of outputs) each.delete();
      outputs = await model.run([input]);
    },
    y: () => outputs[0].toTypedArray(),
    free: () => model.delete(),
  };
}}];
