// The model's files in this browser (Cache API), so that they are fetched once. Absent where the page is not served
// securely: then nothing is kept.

const store = "ladon-minilm";
const names = { weights: "kept/model.safetensors", vocabulary: "kept/vocab.txt" };

export type ModelFiles<T> = Record<keyof typeof names, T>;

const keyOf = (file: keyof typeof names) => new URL(names[file], globalThis.location.href).href;

export async function keptModel(): Promise<ModelFiles<Response> | undefined> {
  if (!("caches" in globalThis) || !(await caches.has(store))) return undefined;
  const cache = await caches.open(store);
  const [weights, vocabulary] = await Promise.all([cache.match(keyOf("weights")), cache.match(keyOf("vocabulary"))]);
  return weights && vocabulary && { weights, vocabulary };
}

export async function keepFile(file: keyof typeof names, response: Response): Promise<void> {
  if (!("caches" in globalThis)) throw new Error("this page is not served over https");
  const cache = await caches.open(store);
  await cache.put(keyOf(file), response);
}

export async function forgetModel(): Promise<void> {
  if ("caches" in globalThis) await caches.delete(store);
}
