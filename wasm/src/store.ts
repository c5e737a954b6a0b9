import type { Description } from "./description.js";
import { fail } from "./errors.js";
import { floats, type Live } from "./live.js";
import type { Block } from "./memory.js";
import { failRead, open } from "./open.js";
import { readSafetensors } from "./safetensors.js";
import type { LoadWeightsOptions, SetOptions, Weights, WeightsSource } from "./types.js";
import { checkFloats, findTensors, type Tensor, type Tensors, zeroTensors } from "./weights.js";

/** An instance's weights. */
export interface Store {
  readonly weights: Weights;
  /** Where the C struct is; 0 before there are weights. */
  at(): number;
  /** All weights zero, which takes the memory of the largest. */
  zero(): void;
  /** Throws while weights are loaded. */
  checkIdle(): void;
  /** Ends a load that is under way. */
  stop(reason: Error): void;
}

export const storeOf = (description: Description, alive: () => Live, changed: () => void): Store => {
  let block: Block | undefined; // the tensors, then the C struct that points to them
  let structAt = 0;
  let tensors: Tensors = new Map();
  let loading: AbortController | undefined;

  const checkIdle = (): void => {
    if (loading) fail("busy", "this instance's weights are being loaded");
  };
  /** Room for tensors and the pointers to them. Until they are adopted, what was there before is untouched. */
  const room = (bytes: number, offsets: number[]): Block => alive().memory.take(bytes + 4 * offsets.length);
  const adopt = (found: Tensors, bytes: number, next: Block, offsets: number[]): void => {
    const { exports, memory } = alive();
    structAt = next.at + bytes;
    new Uint32Array(exports.memory.buffer, structAt).set(offsets.map((offset) => next.at + offset));
    memory.give(block);
    block = next;
    tensors = found;
    changed();
  };

  const set = (given: Readonly<Record<string, Float32Array>>, { prefix }: SetOptions = {}): void => {
    const live = alive();
    checkIdle();
    const found = new Map<string, Tensor>();
    let bytes = 0;
    for (const [name, data] of Object.entries(given)) {
      if (!(data instanceof Float32Array)) fail("weights", name, "a Float32Array", data);
      found.set(name, { begin: bytes, length: data.length });
      bytes += data.byteLength;
    }
    const offsets = findTensors(description, found, prefix, true);
    // Views of this memory end where it grows.
    const sources = Object.values(given).map((data) =>
      data.buffer === live.exports.memory.buffer ? data.slice() : data,
    );
    const next = room(bytes, offsets);
    let at = next.at;
    for (const source of sources) {
      floats(live, at, source.length).set(source);
      at += source.byteLength;
    }
    adopt(found, bytes, next, offsets);
  };

  const load = async (source: WeightsSource, options: LoadWeightsOptions = {}): Promise<void> => {
    const live = alive();
    checkIdle();
    const { prefix, progress, signal } = options;
    const stop = (loading = new AbortController());
    const abort = (): void => stop.abort(signal!.reason);
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    let next: Block | undefined;
    let found: Tensors, bytes: number, offsets: number[];
    try {
      if (signal?.aborted) abort();
      signal?.addEventListener("abort", abort);
      reader = (await open(source, stop.signal)).body!.getReader();
      stop.signal.addEventListener("abort", () => reader!.cancel().catch(() => {}));
      await readSafetensors(
        async () => {
          const piece = await reader!.read().catch((cause) => failRead("weights", cause, stop.signal));
          if (stop.signal.aborted) failRead("weights", 0, stop.signal);
          return piece.value;
        },
        (all, size) => {
          offsets = findTensors(description, (found = all), prefix);
          next = room((bytes = Math.ceil(size / 4) * 4), offsets);
          return (piece, at) => new Uint8Array(live.exports.memory.buffer, next!.at + at).set(piece);
        },
        progress,
      );
      adopt(found!, bytes!, next!, offsets!);
      next = undefined;
    } finally {
      signal?.removeEventListener("abort", abort);
      reader?.cancel().catch(() => {});
      live.memory.give(next);
      loading = undefined;
    }
  };

  const tensor = (name: string): Float32Array => {
    const live = alive();
    const found = tensors.get(name) ?? fail("weights", "tensor", [...tensors.keys()], name);
    checkFloats(name, found);
    return floats(live, block!.at + found.begin, found.length);
  };

  return {
    weights: { set, load, tensor },
    at: () => structAt || fail("weights", "this instance has no weights yet"),
    zero() {
      const { found, longest } = zeroTensors(description);
      const offsets = findTensors(description, found);
      adopt(found, 4 * longest, room(4 * longest, offsets), offsets);
    },
    checkIdle,
    stop: (reason) => loading?.abort(reason),
  };
};
