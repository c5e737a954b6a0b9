// Safetensors files, streamed into an instance's memory. A file of its own in the package, loaded when it is needed.
import { checkOptions, checkSignal } from "./check.js";
import { fail } from "./errors.js";
import type { Block, Live } from "./memory.js";
import { checkSource, failRead, open, unshared } from "./fetch-or-read.js";
import type { LoadWeightsOptions, WeightsSource } from "./types.js";
import type { FindTensors, Tensor, Tensors } from "./weights.js";

/** What an instance lends for loading its weights. */
export interface Tools {
  /** Aborted where the instance is freed. */
  readonly stop: AbortController;
  readonly alive: () => Live;
  readonly adopt: (found: Tensors, offsets: number[], next: Block) => void;
  readonly find: FindTensors;
}

/** What the format's own reader accepts: it keeps a damaged length from costing gigabytes. */
const largestHeader = 1e8;

/**
 * What a kernel like this one has. A file may hold tensors that are none of the kernel's, embeddings say; but one more
 * layer, or a bias, is of another kernel.
 */
const ours = /^(layers\.\d+\.)?(attention\.)?(\w+_proj|gate|linear.|norm.?)_(weight|bias)$/;

/** A file's tensors by name, and the bytes of its data, where they lie one behind the other, without overlap or gap. */
const parseHeader = (text: Uint8Array): [Tensors, number] => {
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(text));
  } catch (cause) {
    fail("weights", "safetensors header", "JSON", "something else", cause);
  }
  if (typeof header !== "object" || !header) fail("weights", "safetensors header", "an object", header);
  const tensors = new Map<string, Tensor>();
  const isSize = (n: unknown): boolean => Number.isSafeInteger(n) && (n as number) >= 0;
  for (const [name, entry] of Object.entries(header as object)) {
    if (name === "__metadata__") continue;
    const { dtype, shape, data_offsets: offsets } = entry ?? {};
    const isSound =
      typeof dtype === "string" &&
      [shape, offsets].every((list) => Array.isArray(list) && list.every(isSize)) &&
      offsets.length === 2 &&
      offsets[0] <= offsets[1];
    if (!isSound) fail("weights", `entry of ${name}`, "dtype, shape and two data_offsets", JSON.stringify(entry));
    const length = (offsets[1] - offsets[0]) / 4;
    const numbers = shape.reduce((a: number, b: number) => a * b, 1);
    if (dtype === "F32" && numbers !== length) fail("weights", `bytes of ${name}`, 4 * numbers, 4 * length);
    const [begin] = offsets;
    const refuse =
      dtype !== "F32" || begin % 4
        ? () => fail("weights", name, "F32 at a multiple of 4 bytes", `${dtype} at ${begin}`)
        : undefined;
    tensors.set(name, { begin, length, shape, refuse });
  }
  let end = 0;
  for (const [name, { begin, length }] of [...tensors].sort(
    ([, a], [, b]) => a.begin - b.begin || a.length - b.length,
  )) {
    if (begin !== end) fail("weights", `first byte of ${name}`, end, begin);
    end += 4 * length;
  }
  return [tensors, end];
};

/** A file as a body, and how many bytes it has, where that is known. */
const bodyOf = async (source: any, signal: AbortSignal): Promise<[Response, size: number]> => {
  if (source.byteLength >= 0) return [new Response(unshared(source)), source.byteLength];
  if (source.locked || source.bodyUsed || source.body?.locked) {
    fail("weights", "source of a file", "a body that nobody reads", "one in use");
  }
  const isPlace = typeof source === "string" || source instanceof URL;
  const response: Response = isPlace ? await open(source, signal) : source.headers ? source : new Response(source);
  const { ok, status, url, type, headers } = response;
  if (!ok) fail("network", url, "HTTP status 200", status);
  // Of what was compressed on its way it is the length there; and of another origin nobody says whether it was.
  const length = type !== "cors" && !headers.has("content-encoding") && headers.get("content-length");
  return [response, source.size ?? (length ? Number(length) : Infinity)];
};

/** What does not begin as safetensors do: of text, such as a page of HTML, its begin. */
const beginOf = (bytes: Uint8Array, length: number): unknown => {
  const text = new TextDecoder("latin1").decode(bytes);
  return /^[\t\n\r -~]*$/.test(text) ? `text that begins with "${text}"` : length;
};

export const loadFile = async (tools: Tools, source: WeightsSource, options: LoadWeightsOptions): Promise<void> => {
  const { stop, alive, adopt, find } = tools;
  const { give } = alive();
  checkOptions(options, ["prefix", "progress", "signal"]);
  const { prefix, progress, signal } = options;
  checkSignal(signal);
  if (progress && typeof progress !== "function") fail("option", "progress", "a function", progress);
  checkSource(source);
  const { url } = source as Response;
  const what = url || (typeof source === "string" || source instanceof URL ? `${source}` : "weights");
  const failed = (cause: unknown): never => {
    alive(); // of a freed instance, that is what is told
    return failRead(what, cause, stop.signal);
  };
  const abort = (): void => stop.abort(signal!.reason);
  let reader: ReadableStreamDefaultReader<Uint8Array>;
  let next: Block | undefined;
  let size = Infinity;

  let rest: Uint8Array = new Uint8Array();
  let seen = 0;
  let total = 8;
  /** Waits for bytes; false at the end. */
  const more = async (): Promise<boolean> => {
    while (!rest.length) {
      const { done, value } = await reader.read().catch(failed);
      if (stop.signal.aborted) failed(0);
      if (done) return false;
      if (value?.BYTES_PER_ELEMENT !== 1) fail("weights", `stream of ${what}`, "bytes", typeof value);
      rest = value;
    }
    return true;
  };
  const read = async (count: number, put: (piece: Uint8Array, at: number) => void): Promise<void> => {
    for (let at = 0; at < count;) {
      if (!(await more())) fail("weights", `bytes of ${what}`, total, seen);
      const piece = rest.subarray(0, count - at);
      put(piece, at);
      at += piece.length;
      seen += piece.length;
      rest = rest.subarray(piece.length);
    }
  };
  const collect = async (count: number): Promise<Uint8Array> => {
    const bytes = new Uint8Array(count);
    await read(count, (piece, at) => bytes.set(piece, at));
    return bytes;
  };

  try {
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort);
    if (stop.signal.aborted) failed(0);
    try {
      const [response, bytes] = await bodyOf(source, stop.signal);
      size = bytes;
      reader = (response.body ?? new Blob().stream()).getReader();
    } catch (cause) {
      failed(cause);
    }
    stop.signal.addEventListener("abort", () => reader.cancel().catch(() => {}));

    const begin = await collect(8);
    const length = Number(new DataView(begin.buffer).getBigUint64(0, true));
    if (length > largestHeader) {
      fail("weights", `header of ${what}`, `at most ${largestHeader} bytes`, beginOf(begin, length));
    }
    /** No memory is taken for bytes that are known not to come. */
    const expectMore = (bytes: number): void => {
      total += bytes;
      if (total > size) fail("weights", `bytes of ${what}`, total, size);
    };
    expectMore(length);
    const [tensors, bytes] = parseHeader(await collect(length));
    expectMore(bytes);
    const offsets = find(tensors, prefix, ours);
    next = alive().take(4 * offsets.length + bytes);
    const tensorsAt = next.at + 4 * offsets.length;
    await read(bytes, (piece, at) => {
      alive().put(tensorsAt + at, piece, Uint8Array);
      progress?.(seen + piece.length, total);
    });
    if (await more()) fail("weights", `bytes of ${what}`, total, "more");
    adopt(tensors, offsets, next);
    next = undefined;
  } finally {
    signal?.removeEventListener("abort", abort);
    reader!?.cancel().catch(() => {});
    give(next);
  }
};
