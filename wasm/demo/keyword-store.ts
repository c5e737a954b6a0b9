// Gets the weights of KWT-1 from the browser's own store, from the user's disk, or from an address.
import { fetched } from "./model-source.js";
import type { RemoteFile } from "./sentence-messages.js";
import { convertTflite, isTflite } from "./tflite-weights.js";
import type { Progress } from "./weight-file.js";

const store = "ladon-kwt1";
const key = () => new URL("kept/kwt1.safetensors", globalThis.location.href).href;

/** Where the weights come from: the browser's own store, the user's disk, or an address. */
export type KeywordSource =
  | { readonly from: "store"; readonly weights: Blob }
  | { readonly from: "disk"; readonly weights: Blob }
  | { readonly from: "network"; readonly weights: RemoteFile };

export async function keptKeywords(): Promise<Blob | undefined> {
  if (!("caches" in globalThis) || !(await caches.has(store))) return undefined;
  return (await (await caches.open(store)).match(key()))?.blob();
}

export async function keepKeywords(weights: Blob): Promise<void> {
  if (!("caches" in globalThis)) throw new Error("this page is not served over https");
  await (await caches.open(store)).put(key(), new Response(weights));
}

export async function forgetKeywords(): Promise<void> {
  if ("caches" in globalThis) await caches.delete(store);
}

/**
 * Returns the weights of KWT-1 from `source` as a safetensors file. If the file is for TensorFlow Lite, converts it.
 */
export async function keywordWeights(source: KeywordSource, signal: AbortSignal, progress: Progress): Promise<Blob> {
  const file = source.from === "network" ? await fetched(source.weights, signal, progress) : source.weights;
  const bytes = new Uint8Array(await file.arrayBuffer());
  return isTflite(bytes) ? convertTflite(bytes) : file;
}
