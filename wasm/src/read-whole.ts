import { LadonError } from "./index.js";
import { checkSource, failRead, open } from "./fetch-or-read.js";

/** A file: where it is, or itself. A string is a URL, relative to the page or, in Node, the directory. */
export type Source = string | URL | Response | Blob | ArrayBuffer | Uint8Array;

const bodyOf = async (source: Source, signal?: AbortSignal): Promise<Response> => {
  if (typeof source === "string" || source instanceof URL) return open(source, signal);
  if (source instanceof Response) {
    if (!source.ok) throw new LadonError("network", source.url, "HTTP status 200", source.status);
    return source;
  }
  checkSource(source);
  return new Response(source as BodyInit);
};

/** All of it. */
export const readBytes = async (source: Source, signal?: AbortSignal): Promise<Uint8Array> => {
  const response = await bodyOf(source, signal);
  try {
    return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    return failRead(response.url, cause, signal);
  }
};

/** The same as UTF-8. */
export const readText = async (source: Source, signal?: AbortSignal): Promise<string> =>
  new TextDecoder().decode(await readBytes(source, signal));
