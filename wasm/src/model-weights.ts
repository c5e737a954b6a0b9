// SPDX-License-Identifier: Apache-2.0
// Streams the weights of a model into the memory of its module.
import { ByteStream } from "./byte-stream.js";
import { abortOf, fail } from "./fail.js";
import type { Block, ModuleMemory } from "./memory.js";
import { sha256Of, textIn } from "./read.js";
import type { WeightsSource } from "./types.js";
import { cached, cacheKey, keep } from "./weights-cache.js";

export interface ModelWeightsOptions {
  /** NAME.weights, which `./dev import --wasm` wrote. */
  readonly weights: WeightsSource;
  /** The SHA-256 of the weights, in hexadecimal digits. Weights with another SHA-256 are refused. */
  readonly sha256?: string;
  /** Called when bytes arrive, with the number of bytes so far and the number of bytes of the file. */
  readonly progress?: (bytes: number, total: number) => void;
  readonly signal?: AbortSignal;
  /** False if the browser shall not keep the weights. They are kept only if `sha256` is given. */
  readonly cache?: boolean;
}

const headerBytes = 64; // include/ladon/model/weight_image.hpp

/** Returns the size of the file, which its header has. */
const readSize = async (file: ByteStream, signal: AbortSignal): Promise<[header: Uint8Array, size: number]> => {
  file.expect(headerBytes);
  const header = await file.collect(headerBytes);
  if (!String.fromCharCode(...header).startsWith("ladonimg")) {
    fail("weights", `header of ${file.name}`, "ladonimg", textIn(header) ?? header.slice(0, 8));
  }
  const size = Number(new DataView(header.buffer, header.byteOffset).getBigUint64(8, true));
  if (!(size >= headerBytes && size < 2 ** 32)) fail("weights", `size of ${file.name}`, "less than 4 GB", size);
  file.expect(size - headerBytes);
  if (signal.aborted) throw abortOf(signal);
  return [header, size];
};

/** Reads a file of weights into a new block of the memory, and checks its SHA-256. */
const readWeights = async (memory: ModuleMemory, source: WeightsSource, options: ModelWeightsOptions): Promise<Block> => {
  const { sha256, progress, signal = new AbortController().signal } = options;
  const file = await ByteStream.open(source, signal, () => {});
  let block: Block | undefined;
  try {
    const [header, size] = await readSize(file, signal);
    block = memory.allocate(size);
    const view = (): Uint8Array => new Uint8Array(memory.exports.memory.buffer, block!.at, size);
    view().set(header);
    await file.read(size - headerBytes, (piece, at) => {
      view().set(piece, headerBytes + at);
      progress?.(headerBytes + at + piece.length, size);
    });
    await file.expectEnd();
    const found = sha256 && (await sha256Of(view()));
    if (found && found !== sha256) fail("weights", `SHA-256 of ${file.name}`, sha256, found);
    return { at: block.at, bytes: size };
  } catch (error) {
    memory.release(block);
    file.cancel();
    throw error;
  }
};

/** Reads the weights from the browser's cache or from their source. Returns their place in the memory. */
export const loadWeights = async (memory: ModuleMemory, options: ModelWeightsOptions): Promise<Block> => {
  const { weights, sha256, cache = true, signal } = options;
  const key = cache && sha256 ? cacheKey(weights) : undefined;
  const kept = key && (await cached(key));
  if (kept) {
    const block = await readWeights(memory, kept, options).catch((error) => {
      if (signal?.aborted) throw error;
      return undefined; // another version of the file, or a damaged one
    });
    if (block) return block;
  }
  const { at, bytes } = await readWeights(memory, weights, options);
  if (key) await keep(key, new Uint8Array(memory.exports.memory.buffer, at, bytes));
  return { at, bytes };
};
