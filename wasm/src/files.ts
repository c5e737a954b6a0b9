// SPDX-License-Identifier: Apache-2.0
// Opens files of the file system, and starts workers of Node. Loaded on demand, and only by Node, Deno and Bun.
import { createReadStream, promises } from "node:fs";
import { Worker } from "node:worker_threads";

export { webcrypto } from "node:crypto";
export { pathToFileURL } from "node:url";

/** Opens a URL of the scheme file, which Node's fetch does not read. */
export const openFile = async (url: URL): Promise<Response> => {
  const { size } = await promises.stat(url);
  return new Response(createReadStream(url), { headers: { "content-length": `${size}` } });
};

/**
 * Starts a worker whose program has postMessage and onmessage, as in a Web Worker. The program is a module without
 * imports.
 */
export const startWorker = (program: URL): Worker =>
  new Worker(
    `const { parentPort } = require("node:worker_threads");
    globalThis.postMessage = (message) => parentPort.postMessage(message);
    import("${program}").then(() => parentPort.on("message", (data) => globalThis.onmessage({ data })));`,
    { eval: true },
  );
