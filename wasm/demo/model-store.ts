// Stores the model's files in this browser (Cache API), so that the files are downloaded once. The Cache API is absent
// if the page is not served securely. Then nothing is stored.
import type { ShippedPrecision as Precision } from "../src/index.js";

const store = "ladon-minilm";
const weightNames: Readonly<Record<Precision, string>> = {
  int8: "kept/int8.safetensors",
  float32: "kept/model.safetensors",
};
const vocabularyName = "kept/vocab.txt";

export interface ModelFiles {
  readonly weights: Blob;
  readonly vocabulary: Blob;
}

const keyOf = (name: string) => new URL(name, globalThis.location.href).href;

export interface KeptModel {
  readonly precision: Precision;
  readonly weights: Response;
  readonly vocabulary: Response;
}

export async function keptModel(): Promise<KeptModel | undefined> {
  if (!("caches" in globalThis) || !(await caches.has(store))) return undefined;
  const cache = await caches.open(store);
  const vocabulary = await cache.match(keyOf(vocabularyName));
  for (const precision of ["int8", "float32"] as const) {
    const weights = await cache.match(keyOf(weightNames[precision]));
    if (weights && vocabulary) return { precision, weights, vocabulary };
  }
  return undefined;
}

/** Replaces all stored files by `weights` and `vocabulary`. */
export async function keepModel(precision: Precision, { weights, vocabulary }: ModelFiles): Promise<void> {
  if (!("caches" in globalThis)) throw new Error("this page is not served over https");
  await forgetModel();
  const cache = await caches.open(store);
  await cache.put(keyOf(weightNames[precision]), new Response(weights));
  await cache.put(keyOf(vocabularyName), new Response(vocabulary));
}

export async function forgetModel(): Promise<void> {
  if ("caches" in globalThis) await caches.delete(store);
}
