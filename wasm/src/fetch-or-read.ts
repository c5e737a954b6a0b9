import { fail, LadonError } from "./errors.js";

/** Throws what a failed read means: what it says itself, its caller's signal, or the network. */
export const failRead = (what: string, cause: unknown, signal?: AbortSignal): never => {
  const reason = signal?.aborted ? signal.reason : cause;
  if (reason instanceof LadonError) throw reason;
  return fail(signal?.aborted ? "aborted" : "network", `${what}: ${reason}`, undefined, undefined, reason);
};

// By a name that bundlers cannot see: in a browser there is no such module.
const ofNode = (name: string): Promise<any> => import(/* @vite-ignore */ /* webpackIgnore: true */ name);

/** That a source is one: of another realm is as good. */
export const checkSource = (source: any): void => {
  const kind = Object.prototype.toString.call(source).slice(8, -1);
  const isOne = /^(String|URL|Response|ReadableStream|Blob|File|(Shared)?ArrayBuffer)$/.test(kind);
  if (isOne || ArrayBuffer.isView(source)) return;
  const actual = typeof source?.then === "function" ? "a Promise (await it)" : source;
  fail("weights", "source of a file", "a URL, Response, ReadableStream, Blob or bytes", actual);
};

/** Bytes that compilers and bodies take: they refuse shared ones. */
export const unshared = (bytes: any): BufferSource => {
  const { buffer = bytes, byteOffset = 0, byteLength } = bytes;
  return buffer instanceof ArrayBuffer ? bytes : new Uint8Array(buffer, byteOffset, byteLength).slice();
};

/** A URL, relative to the page's base; where there is no page, as in Node, what has no scheme is a path. */
const urlOf = async (given: string | URL): Promise<URL> => {
  const { document, location } = globalThis as any;
  const base = document?.baseURI ?? location?.href;
  // One letter and a colon are a drive.
  const isPath = !base && !/^[a-z][a-z\d+.-]+:/i.test(`${given}`);
  return isPath ? (await ofNode("node:url")).pathToFileURL(given) : new URL(given, base);
};

/** What lies there. Where fetch reads no file: URL, fs does. */
export const open = async (given: string | URL, signal?: AbortSignal): Promise<Response> => {
  try {
    signal?.throwIfAborted();
    const url = await urlOf(given);
    let response;
    if (url.protocol === "file:" && (globalThis as any).process) {
      const fs = await ofNode("node:fs");
      const { size } = await fs.promises.stat(url);
      response = new Response(fs.createReadStream(url), { headers: { "content-length": size } });
    } else {
      response = await fetch(url, { signal });
    }
    return response.ok ? response : fail("network", `${given}`, "HTTP status 200", response.status);
  } catch (cause) {
    return failRead(`${given}`, cause, signal);
  }
};
