// SPDX-License-Identifier: Apache-2.0
// Streams safetensors files into the memory of an instance. Loaded on demand: weights in arrays do not need this file.
import { ByteStream } from "./byte-stream.js";
import { checkOptions, checkSignal } from "./check.js";
import { fail } from "./fail.js";
import type { Block } from "./memory.js";
import { textIn } from "./read.js";
import { parseHeader } from "./safetensors-header.js";
import type { LoadWeightsOptions, WeightsSource } from "./types.js";
import { blockSize, type WeightStore } from "./weight-store.js";

/** The instance that gets the weights. */
export interface Destination {
  /** Aborted when the instance is freed. */
  readonly stop: AbortController;
  /** Throws "closed" if the instance was freed. */
  store(): WeightStore;
}

/** The limit of the format's own reader. A damaged length must not cost gigabytes of memory. */
const largestHeader = 1e8;

const readHeaderLength = async (file: ByteStream): Promise<number> => {
  file.expect(8);
  const bytes = await file.collect(8);
  const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  if (length > largestHeader) {
    fail("weights", `header of ${file.name}`, `at most ${largestHeader} bytes`, textIn(bytes) ?? length);
  }
  return length;
};

/**
 * Reads a file into a new block and makes the block the instance's weights. Memory grows as bytes arrive, to twice their
 * number, because a header can claim any size. On errors, the weights stay as they are, and the block is released.
 */
const readFile = async (file: ByteStream, { store }: Destination, options: LoadWeightsOptions): Promise<void> => {
  const { prefix, progress } = options;
  const length = await readHeaderLength(file);
  file.expect(length);
  const { tensors, bytes } = parseHeader(await file.collect(length));
  file.expect(bytes);
  const offsets = store().find(tensors, prefix, true);
  const { memory } = store();
  let block: Block | undefined = memory.reserve(blockSize(offsets, bytes));
  try {
    const first = store().tensorsAt(block, offsets);
    await file.read(bytes, (piece, at) => {
      store(); // throws if the instance was freed
      memory.reach(first + Math.min(bytes, 2 * (at + piece.length)));
      memory.write(first + at, piece, Uint8Array);
      progress?.(file.seen + piece.length, file.total);
    });
    await file.expectEnd();
    store().adopt(tensors, offsets, block);
    block = undefined;
  } finally {
    memory.release(block);
  }
};

const checkLoadOptions = (options: LoadWeightsOptions): void => {
  checkOptions(options, ["prefix", "progress", "signal"]);
  const { progress, signal } = options;
  checkSignal(signal);
  if (progress != null && typeof progress !== "function") fail("option", "progress", "a function", progress);
};

/** Loads weights. Errors: "weights", "shape", "option", "network", "aborted", "memory", "closed". */
export const loadFile = async (
  destination: Destination,
  source: WeightsSource,
  options: LoadWeightsOptions,
): Promise<void> => {
  const { stop, store } = destination;
  store();
  checkLoadOptions(options);
  const { signal } = options;
  const abort = (): void => stop.abort(signal!.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort);
  let file: ByteStream | undefined;
  try {
    file = await ByteStream.open(source, stop.signal, store);
    await readFile(file, destination, options);
  } finally {
    signal?.removeEventListener("abort", abort);
    file?.cancel();
  }
};
