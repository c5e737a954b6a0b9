// Computes MiniLM in transformers.js, from a text to a vector of unit length. Uses the wasm backend and one thread.
import {env, pipeline} from "@huggingface/transformers";

import {models} from "../minilm/models.mjs";

export const name = "transformers.js";
export const version = env.version;

/**
 * Configures transformers.js. `url` returns the address of a file of the build, and `read` returns the bytes of a file.
 */
export async function start({url, read}) {
  const {wasm} = env.backends.onnx;
  wasm.numThreads = 1;
  wasm.wasmPaths = {wasm: url(ORT_WASM)};  // bundle.mjs replaces ORT_WASM by a path in the build
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = "/build/";
  env.useBrowserCache = env.useWasmCache = false;  // writing a cache would take time, and Ladon writes no cache
  if (!url(ORT_WASM).startsWith("file:")) return;
  wasm.wasmBinary = await read(ORT_WASM);  // fetch of Node cannot read files
  env.fetch = path => read(path.slice("/build/".length)).then(bytes => new Response(bytes),
                                                              () => new Response(null, {status: 404}));
}

/**
 * Loads models[form] of MiniLM with transformers.js. Returns {embed, ids, free}. embed(text) returns a Promise of the
 * text's vector, and ids(text) returns the token ids.
 */
export async function load(form) {
  const {file, dtype} = models[form];
  const extract = await pipeline("feature-extraction", "minilm", {dtype, device: "wasm", model_file_name: file});
  return {
    embed: async text => (await extract(text, {pooling: "mean", normalize: true})).data,
    ids: text => Array.from(extract.tokenizer(text).input_ids.data, Number),
    free: () => extract.dispose(),
  };
}
