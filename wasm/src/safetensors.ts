// SPDX-License-Identifier: Apache-2.0
// Streams safetensors files into the memory of an instance. index.js imports this file only on demand, because weights
// that are given as arrays do not need it.
import { ByteStream } from "./byte-stream.js";
import { checkOptions, checkProgress, checkSignal } from "./check.js";
import { fail } from "./fail.js";
import { fusedNames } from "./generated/checkpoint-names.js";
import { textIn } from "./read.js";
import { parseHeader } from "./safetensors-header.js";
import type { MemberOf } from "./tensor-names.js";
import { tensorWriter } from "./tensor-writer.js";
import type { LoadWeightsOptions, WeightsSource } from "./types.js";
import type { WeightBlock } from "./weight-block.js";
import type { WeightPlan } from "./weight-plan.js";
import type { WeightStore } from "./weight-store.js";

/** The instance that gets the weights. */
export interface Destination {
  /** Aborted when the instance is freed. */
  readonly stop: AbortController;
  /** Throws "closed" if the instance was freed. */
  store(): WeightStore;
}

/**
 * The largest header in bytes, as in the reference implementation of safetensors. Without the limit, a file with a
 * damaged length of the header could make the binding read gigabytes as the header.
 */
const largestHeader = 1e8;

/** Names a file of another kind, and the way out, by its first bytes. */
const kindOf = (beginning: string): string | undefined => {
  if (beginning.startsWith("{")) return "JSON, perhaps an index of shards: load a shard";
  if (beginning.startsWith("version ")) return "a pointer of Git LFS: run git lfs pull";
  return beginning.startsWith("PK\x03\x04") ? "a zip archive, as of torch.save: use save_file of safetensors" : undefined;
};

const readHeaderLength = async (file: ByteStream): Promise<number> => {
  file.expect(8);
  const bytes = await file.collect(8);
  const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  if (length > largestHeader) {
    const found = kindOf(String.fromCharCode(...bytes)) ?? textIn(bytes) ?? length;
    fail("weights", `header of ${file.name}`, `at most ${largestHeader} bytes`, found);
  }
  return length;
};

/**
 * Checks the zero points of int8 weights, which files of the library compressed-tensors may have. Throws "weights"
 * unless all zero points are 0.
 */
const checkZeroPoint = (name: string, block: WeightBlock, plan: WeightPlan): void => {
  const zeroPoint = `${name}_zero_point`;
  if (!plan.tensors.has(zeroPoint)) return;
  const found = block.tensor(zeroPoint, "int8").find((zero) => zero !== 0);
  if (found !== undefined) fail("weights", zeroPoint, "0 (symmetric weights)", found);
};

/**
 * Explains why no tensor of the kernel was found: the file is a LoRA adapter, or the tensors are below another prefix.
 * Returns "" if neither is the case. Ignores long names and long prefixes, so that the time is proportional to the names.
 */
const causeOf = (names: Iterable<string>, memberOf: MemberOf): string => {
  const counts = new Map<string, number>();
  for (const name of names) {
    if (name.length > 1000) continue;
    if (/\.lora_(A|B|down|up)\./.test(name)) {
      return `the file is a LoRA adapter, with tensors such as ${name}: merge the adapter into its base model`;
    }
    for (let dot = name.indexOf("."); dot >= 0 && dot < 100; dot = name.indexOf(".", dot + 1)) {
      const prefix = name.slice(0, dot);
      if (memberOf(name.slice(dot + 1))) counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
    }
  }
  const most = Math.max(0, ...counts.values());
  const best = [...counts.keys()].find((prefix) => counts.get(prefix) === most);
  return best === undefined ? "" : `such tensors are below the prefix ${best}`;
};

/** Returns the cause of missing tensors if the file is a shard by its name. */
const causeOfShard = (file: string): string | undefined =>
  /-\d{5}-of-\d{5}\.safetensors([?#]|$)/.test(file)
    ? "the file is a shard (to write one file: save_pretrained with max_shard_size)"
    : undefined;

/** Returns the cause of missing tensors if the file has fused tensors. */
const causeOfFused = (names: Iterable<string>): string | undefined => {
  const fused = [...names].find((name) => fusedNames.some((one) => `.${name}`.endsWith(`.${one}.weight`)));
  return fused && `fused tensors need ladon-weights pack, such as ${fused}`;
};

/** Returns the result of `plan`. If `plan` throws because tensors are missing, the error names the cause. */
const planOf = (file: string, names: Iterable<string>, plan: () => WeightPlan): WeightPlan => {
  try {
    return plan();
  } catch (error: any) {
    if (error.code !== "weights") throw error;
    const isWrongType = typeof error.expected === "string";
    const cause = causeOfShard(file) ?? (isWrongType ? undefined : causeOfFused(names));
    if (!cause) throw error;
    return fail("weights", `${cause}; ${error.message}`, undefined, undefined, error);
  }
};

/**
 * Reads a file into a new block and makes the block the instance's weights. On errors, the weights stay as they are,
 * and the block is released.
 */
const readFile = async (file: ByteStream, { store }: Destination, options: LoadWeightsOptions): Promise<void> => {
  const { prefix, progress } = options;
  const length = await readHeaderLength(file);
  file.expect(length);
  const { tensors, bytes } = parseHeader(await file.collect(length));
  file.expect(bytes);
  const plan = planOf(file.name, tensors.keys(), () => store().plan(tensors, prefix, causeOf));
  const block = store().reserve(plan);
  try {
    for (const [name, tensor] of tensors) {
      const put = tensorWriter(block, plan, name, tensor);
      await file.read(tensor.bytes, (piece, at) => {
        store(); // throws if the instance was freed
        put(piece, at);
        progress?.(file.seen + piece.length, file.total);
      });
    }
    await file.expectEnd();
    for (const name of plan.matrices.keys()) checkZeroPoint(name, block, plan);
    store().adopt(block);
  } catch (error) {
    block.release();
    throw error;
  }
};

const checkLoadOptions = (options: LoadWeightsOptions): void => {
  checkOptions(options, ["prefix", "progress", "signal"]);
  checkSignal(options.signal);
  checkProgress(options.progress);
};

/**
 * Loads the weights of a safetensors file into the instance. Errors: "weights", "shape", "option", "network",
 * "aborted", "memory", "closed".
 */
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
