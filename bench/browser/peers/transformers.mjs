// MiniLM in transformers.js on its wasm backend, one thread: a text to a vector of unit length, as in a page.
import {env, pipeline} from "@huggingface/transformers";

import {models} from "../minilm/models.mjs";

export const name = "transformers.js";
export const version = env.version;

/** `url` gives where a file of the build can be had, `read` its bytes. */
export async function start({url, read}) {
  const {wasm} = env.backends.onnx;
  wasm.numThreads = 1;
  wasm.wasmPaths = {wasm: url(ORT_WASM)};  // a path in the build, which bundle.mjs puts here
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = "/build/";
  env.useBrowserCache = env.useWasmCache = false;  // to write a cache takes time that Ladon does not take
  if (!url(ORT_WASM).startsWith("file:")) return;
  wasm.wasmBinary = await read(ORT_WASM);  // Node's fetch reads no files
  env.fetch = path => read(path.slice("/build/".length)).then(bytes => new Response(bytes),
                                                              () => new Response(null, {status: 404}));
}

/** {embed(text): Promise of a vector, ids(text), free()} */
export async function load(form) {
  const {file, dtype} = models[form];
  const extract = await pipeline("feature-extraction", "minilm", {dtype, device: "wasm", model_file_name: file});
  return {
    embed: async text => (await extract(text, {pooling: "mean", normalize: true})).data,
    ids: text => Array.from(extract.tokenizer(text).input_ids.data, Number),
    free: () => extract.dispose(),
  };
}
