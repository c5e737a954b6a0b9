// SPDX-License-Identifier: Apache-2.0
// Reads files with `fetch`. In Node, Deno and Bun, also reads files from the file system.
import { classOf } from "./check.js";
import { LadonError } from "./errors.js";
import { fail } from "./fail.js";
import { textOf } from "./text.js";
import type { Source } from "./types.js";

/** Throws the error of a failed read: a LadonError unchanged, the reason of an aborted signal, or a network error. */
export const failRead = (what: string, cause: unknown, signal?: AbortSignal): never => {
  const reason = signal?.aborted ? signal.reason : cause;
  if (reason instanceof LadonError) throw reason;
  return fail(signal?.aborted ? "aborted" : "network", `${what}: ${textOf(reason)}`, undefined, undefined, reason);
};

/**
 * Imports files.ts, which uses functions of Node, Deno and Bun. In builds for browsers, the field `browser` of
 * package.json makes bundlers replace files.ts by an empty file.
 */
const files = () => import("./files.js");

export const isBytes = (source: unknown): boolean =>
  ArrayBuffer.isView(source) || ["ArrayBuffer", "SharedArrayBuffer"].includes(classOf(source));

/** Throws unless a source of a file is of a type that the package reads. */
export const checkSource = (source: any): void => {
  if (isBytes(source) || ["String", "URL", "Response", "ReadableStream", "Blob", "File"].includes(classOf(source))) return;
  const actual = typeof source?.then === "function" ? "a Promise (await it)" : source;
  fail("weights", "source of a file", "a URL, Response, ReadableStream, Blob or bytes", actual);
};

/**
 * Returns the bytes. Returns a copy if the bytes are in shared memory, because compilers and Response reject shared
 * memory.
 */
export const unshared = (bytes: any): BufferSource => {
  const { buffer = bytes, byteOffset = 0, byteLength } = bytes;
  return buffer instanceof ArrayBuffer ? bytes : new Uint8Array(buffer, byteOffset, byteLength).slice();
};

/**
 * Servers often send a page of HTML in place of a missing file. If all bytes are printable ASCII, returns a text that
 * quotes the bytes, for the error message. Otherwise, returns undefined.
 */
export const textIn = (bytes: Uint8Array): string | undefined => {
  const text = new TextDecoder("latin1").decode(bytes);
  return /^[\t\n\r -~]+$/.test(text) ? `text that begins with "${text}"` : undefined;
};

/**
 * Returns the URL that `given` stands for. On a page, a string is a URL relative to the page. Without a page, as in
 * Node, a string without a scheme is a path.
 */
const urlOf = async (given: string | URL): Promise<URL> => {
  const { document, location } = globalThis as any;
  const base = document?.baseURI ?? location?.href;
  // A scheme has at least two letters, because one letter and a colon name a drive of Windows.
  const isPath = !base && !/^[a-z][a-z\d+.-]+:/i.test(`${given}`);
  if (!isPath) return new URL(given, base);
  const { pathToFileURL } = await files();
  return pathToFileURL?.(given) ?? fail("unsupported", `${given}`, "a URL with a scheme (this host has no files)", "a path");
};

/**
 * Returns the address that `make` makes from import.meta.url. Some hosts, such as workerd, give files no address. Errors:
 * "unsupported".
 */
export const addressOf = <T extends string | URL>(make: () => T): T => {
  try {
    return make();
  } catch (cause) {
    if (cause instanceof LadonError) throw cause;
    const hint = "this host gives files no address; import the module or file, and pass it";
    return fail("unsupported", hint, undefined, undefined, cause);
  }
};

/** Throws "unsupported" on hosts without fetch or Response, such as Node 16 and Bare. */
const needFetch = (): void => {
  const missing = ["fetch", "Response"].filter((name) => typeof (globalThis as any)[name] !== "function");
  if (missing.length) fail("unsupported", "to read files, this package needs", "fetch and Response (Node 18)", `no ${missing}`);
};

/** Opens a URL or, in Node, a path. Errors: "network", "aborted". */
export const open = async (given: string | URL, signal?: AbortSignal): Promise<Response> => {
  try {
    needFetch();
    signal?.throwIfAborted();
    const url = await urlOf(given);
    const isFile = url.protocol === "file:" && (globalThis as any).process;
    const response = await (isFile ? (await files()).openFile(url) : fetch(url, { signal }));
    return response.ok ? response : fail("network", `${given}`, "HTTP status 200", response.status);
  } catch (cause) {
    return failRead(`${given}`, cause, signal);
  }
};

const isPlace = (source: unknown): source is string | URL => typeof source === "string" || source instanceof URL;

/** Opens a source that is not a stream. */
const bodyOf = async (source: any, signal?: AbortSignal): Promise<Response> => {
  needFetch();
  if (isPlace(source)) return open(source, signal);
  if (!(source instanceof Response)) {
    checkSource(source);
    return new Response(isBytes(source) ? unshared(source) : source);
  }
  return source.ok ? source : fail("network", source.url, "HTTP status 200", source.status);
};

/** Reads a whole file. Errors: "network", "aborted", "weights". */
export const readBytes = async (source: Source, signal?: AbortSignal): Promise<Uint8Array> => {
  try {
    return new Uint8Array(await (await bodyOf(source, signal)).arrayBuffer());
  } catch (cause) {
    return failRead(isPlace(source) ? `${source}` : (source as any)?.url || "bytes", cause, signal);
  }
};

/**
 * Returns the SHA-256 of the bytes in hexadecimal digits. Returns undefined on an insecure page, where browsers have no
 * SHA-256. Node 18 has it only in a module of its own.
 */
export const sha256Of = async (bytes: Uint8Array): Promise<string | undefined> => {
  const { crypto, process } = globalThis as any;
  const { subtle } = crypto ?? (process && (await files()).webcrypto) ?? {};
  if (!subtle) return undefined;
  const digest = new Uint8Array(await subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
};
