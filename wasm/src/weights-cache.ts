// SPDX-License-Identifier: Apache-2.0
// Keeps files of weights in the Cache API of browsers. Without this API, as in Node, and where a browser refuses it, no
// file is kept, and nothing fails.

const name = "ladon-models";

const open = async (): Promise<Cache | undefined> => {
  try {
    return await globalThis.caches?.open(name);
  } catch {
    return undefined; // an insecure page, or a sandbox
  }
};

/** Returns the URL under which a file is kept, or undefined if its source is no file of the web. */
export const cacheKey = (source: unknown): string | undefined => {
  if (typeof source !== "string" && !(source instanceof URL)) return undefined;
  const { document, location } = globalThis as any;
  try {
    const url = new URL(source, document?.baseURI ?? location?.href);
    return /^https?:$/.test(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
};

export const cached = async (key: string): Promise<Response | undefined> => {
  try {
    return await (await open())?.match(key);
  } catch {
    return undefined;
  }
};

/** Keeps a copy of the bytes. If the storage is full, keeps nothing. */
export const keep = async (key: string, bytes: Uint8Array): Promise<void> => {
  try {
    const headers = { "content-length": `${bytes.length}` };
    await (await open())?.put(key, new Response(bytes as Uint8Array<ArrayBuffer>, { headers }));
  } catch {
    // The next load reads the file again.
  }
};
