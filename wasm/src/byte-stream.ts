// SPDX-License-Identifier: Apache-2.0
// Reads a file from a stream. The caller asks for the parts of the file in order, and says how many bytes each part
// has.
import { fail } from "./fail.js";
import { checkSource, failRead, isBytes, open, unshared } from "./read.js";
import type { WeightsSource } from "./types.js";

/** Returns the name of a source for error messages. */
const nameOf = (source: any): string => {
  if (typeof source === "string" || source instanceof URL) return `${source}`;
  return source.url || "weights";
};

/** Opens a source. `size` is its number of bytes, or Infinity if the size is unknown. */
const openSource = async (source: any, signal: AbortSignal): Promise<{ response: Response; size: number }> => {
  if (isBytes(source)) return { response: new Response(unshared(source)), size: source.byteLength };
  if (source.locked || source.bodyUsed || source.body?.locked) {
    fail("weights", "source of a file", "a body that nobody reads", "one in use");
  }
  const isPlace = typeof source === "string" || source instanceof URL;
  const response: Response = isPlace ? await open(source, signal) : source.headers ? source : new Response(source);
  const { ok, status, url, type, headers } = response;
  if (!ok) fail("network", url, "HTTP status 200", status);
  // `content-length` is ignored if the response is compressed, because it is then the compressed size. It is also
  // ignored for a response of another origin, which may be compressed without saying so.
  const isExact = type !== "cors" && !headers.has("content-encoding");
  const length = isExact && headers.get("content-length");
  return { response, size: source.size ?? (length ? Number(length) : Infinity) };
};

/** Throws the error of a failed read. Throws "closed" if the instance was freed. */
export type Failed = (cause: unknown) => never;

export class ByteStream {
  readonly name: string;
  /** The number of bytes read so far. */
  seen = 0;
  /**
   * The smallest possible size of the file, as far as it is known: the sum of the arguments of all calls of `expect`.
   */
  total = 0;
  readonly #size: number;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #signal: AbortSignal;
  readonly #failed: Failed;
  #rest: Uint8Array = new Uint8Array();

  private constructor(name: string, response: Response, size: number, signal: AbortSignal, failed: Failed) {
    this.name = name;
    this.#size = size;
    this.#reader = (response.body ?? new Blob().stream()).getReader();
    this.#signal = signal;
    this.#failed = failed;
    signal.addEventListener("abort", () => this.cancel());
  }

  /** Opens a source. `checkAlive` throws if nobody needs the file any more. */
  static async open(source: WeightsSource, signal: AbortSignal, checkAlive: () => void): Promise<ByteStream> {
    checkSource(source);
    const name = nameOf(source);
    const failed: Failed = (cause) => {
      checkAlive();
      return failRead(name, cause, signal);
    };
    try {
      signal.throwIfAborted();
      const { response, size } = await openSource(source, signal);
      return new ByteStream(name, response, size, signal, failed);
    } catch (cause) {
      return failed(cause);
    }
  }

  /** Stops the stream. A second call has no effect. */
  cancel(): void {
    this.#reader.cancel().catch(() => {});
  }

  /**
   * Declares that the file has at least `bytes` further bytes. Throws, before any allocation, if the size of the file
   * is known and too small.
   */
  expect(bytes: number): void {
    this.total += bytes;
    if (this.total > this.#size) fail("weights", `bytes of ${this.name}`, this.total, this.#size);
  }

  /**
   * Reads the next `count` bytes in pieces. Calls `put` with each piece and its offset from the first of these bytes.
   */
  async read(count: number, put: (piece: Uint8Array, at: number) => void): Promise<void> {
    for (let at = 0; at < count;) {
      if (!(await this.#hasMore())) fail("weights", `bytes of ${this.name}`, this.total, this.seen);
      const piece = this.#rest.subarray(0, count - at);
      put(piece, at);
      at += piece.length;
      this.seen += piece.length;
      this.#rest = this.#rest.subarray(piece.length);
    }
  }

  /**
   * Returns the next `count` bytes. The array grows as bytes arrive. If the whole array were allocated first, a damaged
   * header with a huge `count` could allocate gigabytes.
   */
  async collect(count: number): Promise<Uint8Array> {
    let bytes = new Uint8Array();
    await this.read(count, (piece, at) => {
      const end = at + piece.length;
      if (end > bytes.length) {
        const larger = new Uint8Array(Math.min(count, 2 * end));
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(piece, at);
    });
    return bytes;
  }

  /** Throws unless the file ends here. */
  async expectEnd(): Promise<void> {
    if (await this.#hasMore()) fail("weights", `bytes of ${this.name}`, this.total, "more");
  }

  /** Waits for bytes. Returns false at the end of the file. */
  async #hasMore(): Promise<boolean> {
    while (!this.#rest.length) {
      const { done, value } = await this.#reader.read().catch(this.#failed);
      if (this.#signal.aborted) this.#failed(this.#signal.reason);
      if (done) return false;
      const isByteArray = ArrayBuffer.isView(value) && value.BYTES_PER_ELEMENT === 1;
      if (!isByteArray) fail("weights", `stream of ${this.name}`, "bytes", typeof value);
      this.#rest = value!;
    }
    return true;
  }
}
