import { fail, LadonError } from "./errors.js";
import type { WeightsSource } from "./types.js";

/** Throws what a failed read means: its caller's signal, or the network. */
export const failRead = (what: string, cause: unknown, signal?: AbortSignal): never => {
  if (!signal?.aborted) return fail("network", `${what}: ${cause}`, undefined, undefined, cause);
  if (signal.reason instanceof LadonError) throw signal.reason;
  return fail("aborted", `${what}: aborted`, undefined, undefined, signal.reason);
};

/** Of a URL that is relative to the page, or in Node to the working directory. */
const absolute = (url: string | URL): URL =>
  new URL(url, globalThis.location?.href ?? `file://${(globalThis as any).process?.cwd()}/`);

/** What lies at a URL, or what is at hand, as a response. In Node, where fetch reads no file: URL, fs does. */
export const open = async (source: WeightsSource, signal?: AbortSignal): Promise<Response> => {
  const isPlace = typeof source === "string" || source instanceof URL;
  const what = isPlace ? `${source}` : "weights";
  let response: Response;
  try {
    signal?.throwIfAborted();
    if (!isPlace) {
      response = source instanceof Response ? source : new Response(source as BodyInit);
    } else if (absolute(source).protocol === "file:") {
      // By a name that bundlers cannot see: in a browser there is no such module.
      const name = ["node:fs"][0]!;
      const { promises, createReadStream } = await import(/* @vite-ignore */ /* webpackIgnore: true */ name);
      await promises.access(absolute(source));
      response = new Response(createReadStream(absolute(source)));
    } else {
      response = await fetch(absolute(source), { signal });
    }
  } catch (cause) {
    failRead(what, cause, signal);
  }
  if (!response!.ok) fail("network", what, "HTTP status 200", response!.status);
  return response!;
};
