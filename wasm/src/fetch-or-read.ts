import { fail, LadonError } from "./errors.js";

/** Throws what a failed read means: what it says itself, its caller's signal, or the network. */
export const failRead = (what: string, cause: unknown, signal?: AbortSignal): never => {
  const reason = signal?.aborted ? signal.reason : cause;
  if (reason instanceof LadonError) throw reason;
  return fail(signal?.aborted ? "aborted" : "network", `${what}: ${reason}`, undefined, undefined, reason);
};

/** What lies at a URL, relative to the page or in Node to the directory. Where fetch reads no file: URL, fs does. */
export const open = async (given: string | URL, signal?: AbortSignal): Promise<Response> => {
  try {
    signal?.throwIfAborted();
    const { location, process } = globalThis as any;
    const url = new URL(given, location?.href ?? `file://${process?.cwd()}/`);
    let response;
    if (url.protocol === "file:" && process) {
      // By a name that bundlers cannot see: in a browser there is no such module.
      const name = ["node:fs"][0]!;
      const fs = await import(/* @vite-ignore */ /* webpackIgnore: true */ name);
      response = new Response(fs.createReadStream(url));
    } else {
      response = await fetch(url, { signal });
    }
    return response.ok ? response : fail("network", `${given}`, "HTTP status 200", response.status);
  } catch (cause) {
    return failRead(`${given}`, cause, signal);
  }
};
