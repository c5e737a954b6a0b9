// Checks fetched files.
import type { RemoteFile } from "./sentence-messages.js";

const hexadecimal = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * Throws if the SHA-256 of the content differs from `sha256`. Without HTTPS, crypto.subtle is absent, and the function
 * checks nothing. A check would protect little without HTTPS, because an attacker could also change the page's code.
 */
export async function checkContent(content: Blob, { url, sha256 }: RemoteFile): Promise<void> {
  if (!sha256 || !globalThis.crypto?.subtle) return;
  const found = hexadecimal(new Uint8Array(await crypto.subtle.digest("SHA-256", await content.arrayBuffer())));
  if (found !== sha256) throw new Error(`${url}: the SHA-256 must be ${sha256}, but is ${found}`);
}
