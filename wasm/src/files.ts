// SPDX-License-Identifier: Apache-2.0
// Opens files of the file system. Loaded on demand, and only by Node, Deno and Bun.
import { createReadStream, promises } from "node:fs";

export { webcrypto } from "node:crypto";
export { pathToFileURL } from "node:url";

/** Opens a URL of the scheme file, which Node's fetch does not read. */
export const openFile = async (url: URL): Promise<Response> => {
  const { size } = await promises.stat(url);
  return new Response(createReadStream(url), { headers: { "content-length": `${size}` } });
};
