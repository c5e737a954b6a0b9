// Checks fetched files.

const hexadecimal = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * Reads all of a response and returns a response with the same content. Throws if the content does not have the checksum.
 * Returns the response itself if there is nothing to check. crypto.subtle is absent where the page is not served
 * securely. There, nothing is checked, because nothing protects the page's own code either.
 */
export async function checked(response: Response, url: string, sha256: string | undefined): Promise<Response> {
  if (!sha256 || !globalThis.crypto?.subtle) return response;
  const content = await response.arrayBuffer();
  const found = hexadecimal(new Uint8Array(await crypto.subtle.digest("SHA-256", content)));
  if (found !== sha256) throw new Error(`${url}: the SHA-256 must be ${sha256}, but is ${found}`);
  return new Response(content, { headers: { "content-length": `${content.byteLength}` } });
}
