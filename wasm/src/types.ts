// SPDX-License-Identifier: Apache-2.0
/// <reference lib="esnext.disposable" preserve="true" />
import type { Description, Precision } from "./description.js";
import type { WeightArray } from "./element-types.js";
import type { MaskOptions } from "./generated/mask-options.js";
import type { Variant } from "./variants.js";

export interface LoadOptions {
  /** The default is the fastest variant that the engine supports and computes correctly. */
  readonly variant?: Variant;
  /**
   * The precision of a shipped kernel: float32 or int8. The default is float32. Any other module has one precision, and
   * asking for another precision is an error.
   */
  readonly precision?: Precision;
  /**
   * The bits to which an int8 kernel quantises the inputs of its products at run time. The default is 8 if the module
   * and the engine support 8 bits, and 7 otherwise. With 7 bits, the results are equal on every engine, except for
   * roundings of floats.
   */
  readonly activationBits?: 7 | 8;
  readonly signal?: AbortSignal;
}

export interface TeamLoadOptions extends LoadOptions {
  /**
   * The number of workers that compute each call together, from 1 to 64. The kernel must have been made with THREADS.
   * Where threads are impossible, one thread computes (`TeamKernel.singleThreadReason`).
   */
  readonly threads: number;
}

/** The masks that an instance uses. They must include all masks of the kernel that cannot be switched off. */
export type Mask = "none" | "causal" | "padding" | readonly ("causal" | "padding")[];

export interface CreateOptions {
  /**
   * With `"causal"`, query i of a run with q queries and k keys sees the keys from 0 to i + k - q. With `"padding"`,
   * the option `padding` of `run` hides keys. Without the option `mask`, a run uses the masks that cannot be switched
   * off, and each mask whose data the run gives.
   */
  readonly mask?: Mask;
}

/**
 * The numbers of a rotary embedding. With a `kind`, the frequencies are scaled as a model's config.json states. A kind
 * needs the members that its comment lists, and takes no others but `offset`, `base` and `negated`.
 */
export interface RotaryOptions {
  /** The position of the first token. */
  readonly offset?: number;
  /** rope_theta; the default is 10000. */
  readonly base?: number;
  /** Without a kind: divides positions. The default is 1. */
  readonly scaling?: number;
  /**
   * The value of rope_type:
   *
   * - `"none"`: no scaling ("default" in config.json)
   * - `"linear"`: `factor`
   * - `"dynamic"`: `factor`, `originalPositions`
   * - `"llama3"`: `factor`, `originalPositions`; optional: `lowFrequencyFactor`, `highFrequencyFactor`
   * - `"yarn"`: `factor`, `originalPositions`; optional: `attentionFactor`, `betaFast`, `betaSlow`, `truncate`
   * - `"longrope"`: `factor`, `originalPositions`, `factors`; optional: `attentionFactor`
   * - `"proportional"`: `proportion`; optional: `factor`
   */
  readonly kind?: "none" | "linear" | "dynamic" | "llama3" | "yarn" | "longrope" | "proportional";
  readonly factor?: number;
  /** original_max_position_embeddings; for dynamic, max_position_embeddings. */
  readonly originalPositions?: number;
  /** The default is computed from `factor`. */
  readonly attentionFactor?: number;
  /** The default is 1. */
  readonly lowFrequencyFactor?: number;
  /** The default is 4. */
  readonly highFrequencyFactor?: number;
  /** The default is 32. */
  readonly betaFast?: number;
  /** The default is 1. */
  readonly betaSlow?: number;
  /** The default is true. */
  readonly truncate?: boolean;
  /** partial_rotary_factor. */
  readonly proportion?: number;
  /** [width / 2], short_factor or long_factor. */
  readonly factors?: ArrayLike<number>;
  /** With a kind: true to rotate by negative angles (NanoChat). */
  readonly negated?: boolean;
}

/** How distances become buckets. */
export interface RelativeOptions {
  /** True for T5's decoders: all buckets belong to earlier keys. */
  readonly causal?: boolean;
  /** relative_attention_max_distance; the default is 128. */
  readonly maxDistance?: number;
}

/** The options of a decoder's attention to its memory. */
export interface MemoryOptions extends Pick<MaskOptions, "padding" | "bits" | "boolean" | "additive"> {
  /**
   * The number of tokens of the memory that may be seen. The default is the number that the kernel has room for, or the
   * number of tokens in the cache of the memory.
   */
  readonly keys?: number;
  /** For kernels with SINKS: [heads], the logit of each head's sink. These kernels require the option. */
  readonly sinks?: ArrayLike<number>;
}

export interface RunOptions extends MaskOptions {
  /**
   * The number of tokens of x that the run reads, which may be 0. The default is the number that the kernel has room
   * for.
   */
  readonly tokens?: number;
  /**
   * The number of queries and of rows of y. The first rows of x are the queries. The default is `tokens`.
   */
  readonly queries?: number;
  /**
   * The number of keys. The default is `tokens`. Kernels with CONTEXT have another default: `description.keys`, or
   * `cached` if the run uses the keys in the cache.
   */
  readonly keys?: number;
  /**
   * Query i has position i + offset among the keys. The causal mask hides the keys after this position. The default is
   * the number of keys minus the number of queries. If an instance does not use the kernel's causal mask, the default
   * is the number of keys, so that no key is hidden.
   */
  readonly offset?: number;
  /** For kernels with CONTEXT: [keys][keyModel], the tokens from which keys and values are projected. */
  readonly context?: ArrayLike<number>;
  /** In place of `context`, if KEY_MODEL and VALUE_MODEL differ: [keys][keyModel], the tokens of the keys. */
  readonly key_context?: ArrayLike<number>;
  /** [keys][valueModel], the tokens of the values. */
  readonly value_context?: ArrayLike<number>;
  /** For kernels with PROJECTIONS without: the keys [kvHeads][keys][headWidth]. */
  readonly k?: ArrayLike<number>;
  /** For kernels with PROJECTIONS without: the values [kvHeads][keys][valueWidth]. */
  readonly v?: ArrayLike<number>;
  /**
   * For kernels with MEMORY: [memory][model], the output of an encoder. A decoder with CACHE keeps its keys and values,
   * until a run has another `memory`.
   */
  readonly memory?: ArrayLike<number>;
  /** For kernels with MEMORY: the options of the attention to the memory. */
  readonly memoryOptions?: MemoryOptions;
  /** For kernels with SINKS: [heads], the logit of each head's sink. These kernels require the option. */
  readonly sinks?: ArrayLike<number>;
  /**
   * For kernels with ROTARY: the numbers of each head of a query or key are rotated in pairs. For the token at
   * `position`, the angle of pair p is (position + offset) / scaling * base^(-2 p / width). A kernel with LAYER_KINDS
   * takes a list with an entry for each kind of layers, or one object for all kinds. The entries have equal offsets.
   */
  readonly rotary?: RotaryOptions | readonly RotaryOptions[];
  /** True to keep the attention weights of this run for `attention()`. */
  readonly attention?: boolean;
}

export interface SetOptions {
  /** The text before the tensors' names, such as "encoder.layer.0.attention". The dot at the end may be left out. */
  readonly prefix?: string;
}

export interface LoadWeightsOptions extends SetOptions {
  /** Called when bytes arrive, with the number of bytes so far and the number of bytes of the file. */
  readonly progress?: (bytes: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/**
 * A safetensors file, or its URL or path. A string is a URL, relative to the page. In Node, a string can also be a
 * path.
 */
export type WeightsSource = string | URL | Response | ReadableStream<Uint8Array> | Blob | ArrayBufferLike | ArrayBufferView;

/** A file that is read as a whole, or its URL or path. */
export type Source = string | URL | Response | Blob | ArrayBuffer | Uint8Array;

export interface Weights {
  /**
   * Checks all tensors, then copies them. Names are those of PyTorch, of Hugging Face's BERT and Llama, or of the C
   * members. Each array is one tensor, row-major. The tensors replace all weights of the instance.
   *
   * An int8 kernel takes a matrix X in two forms. A Float32Array X is quantised. An Int8Array X comes with a
   * Float32Array X_scale, which has one scale for each row. A weight is then scale * integer.
   *
   * An int4 kernel takes a matrix X as a Float32Array, which is quantised, or as a Uint8Array with a Float32Array X_scale,
   * as `ladon-weights quantise --bits 4` makes them. `inputs` of its description is the number of weights of a row.
   *
   * A bfloat16 kernel takes a matrix as a Uint16Array, which has the bits of bfloat16 numbers, or as a Float32Array,
   * which is rounded.
   */
  set(tensors: Readonly<Record<string, Float32Array | Uint16Array | Int8Array | Uint8Array>>, options?: SetOptions): void;
  /**
   * Streams a safetensors file into the instance's memory. The tensors that the kernel reads have the dtype F32, F16 or
   * BF16. For an int8 or int4 kernel, the binding quantises the matrices while they arrive, row by row. The file may
   * also have I8 matrices with scales for an int8 kernel, or U8 matrices with scales for an int4 kernel, as in `set`. For a bfloat16 kernel, matrices of another dtype than BF16 are rounded. All
   * other tensors of the file are kept unchanged and may have any dtype. After an error or an abort, the weights are
   * unchanged.
   */
  load(source: WeightsSource, options?: LoadWeightsOptions): Promise<void>;
  /**
   * Returns a view of the tensor `name` of the file or record that the weights came from. The view is valid until the
   * next call. If an int8 kernel quantised a matrix X, the tensor X is an Int8Array, and in an int4 kernel a Uint8Array. X_scale has its scales
   * (Float32Array), and X_row_sum the sums of its rows (Int32Array). A matrix of a bfloat16 kernel is a Uint16Array. For
   * an F16 or BF16 tensor that the kernel does not need, returns a copy as a Float32Array. Throws a LadonError "weights"
   * if the tensor has another type than `type`.
   */
  tensor(name: string): WeightArray;
  tensor(name: string, type: "float32"): Float32Array;
  tensor(name: string, type: "bfloat16"): Uint16Array;
  tensor(name: string, type: "int8"): Int8Array;
  tensor(name: string, type: "int4"): Uint8Array;
  tensor(name: string, type: "int32"): Int32Array;
}

/**
 * A kernel with its own memory, workspace and weights. Views are valid until the next call on their instance.
 * `weights.set`, `weights.load`, `relativeTable` and the first `run` with `attention` can make the memory grow. After a
 * growth, older views have length 0.
 */
export interface Instance {
  readonly description: Description;
  readonly weights: Weights;
  /**
   * @param x [tokens][model]. The number of tokens is the larger of `queries` and `keys`. If the kernel has a context
   *   or a cache, the number is `queries`. x may also have all rows that the kernel has room for. Then the run reads
   *   the first rows. For a kernel with PROJECTIONS without, x has the queries [heads][queries][headWidth].
   * @returns a view of y, [queries][model]; for a kernel with PROJECTIONS without, [heads][queries][valueWidth]
   */
  run(x: ArrayLike<number>, options?: RunOptions): Float32Array;
  /**
   * Returns a new array for the option `relative` of a kernel with MASK relative. Throws a LadonError "mask" if the
   * kernel has another mask.
   * @param bias [buckets][heads], the embedding of relative positions of T5 or MPNet
   */
  relativeTable(bias: ArrayLike<number>, options?: RelativeOptions): Float32Array;
  /**
   * Returns a view of the attention weights of the last run, if the run had `attention: true`. The shape is always
   * [heads][description.queries][description.keys], also after a run with fewer queries or keys. So the row of query i
   * in head h begins at (h * description.queries + i) * description.keys. Rows of queries that the run did not compute
   * are undefined.
   */
  attention(layer?: number): Float32Array;
  /**
   * The same for the attention of a decoder to its memory. The shape is
   * [heads][description.queries][description.memory].
   */
  memoryAttention(layer?: number): Float32Array;
  /**
   * The number of tokens in the cache of a kernel with CACHE. Without a context, each run adds its tokens to the cache.
   * A run with a `context` replaces the content of the cache by the tokens of the context.
   */
  readonly cached: number;
  /** Empties the cache. The keys and values of a decoder's memory stay. New weights empty both. */
  clear(): void;
  /** Frees the memory. Every later call throws a LadonError "closed". A second `free` has no effect. */
  free(): void;
  [Symbol.dispose](): void;
}

/**
 * An instance whose runs are computed by workers. While a run is in progress, other calls except `free` throw a
 * LadonError "busy". `free` also ends the workers, and a run in progress then throws "closed".
 */
export interface TeamInstance extends Omit<Instance, "run"> {
  /** Like `Instance.run`. Errors of the workers have the code "worker". */
  run(x: ArrayLike<number>, options?: RunOptions): Promise<Float32Array>;
}

export interface WarmUpOptions {
  /**
   * The number of tokens of each call. Short calls are better, because the engine can switch to optimised code only
   * between two calls. The default is 32.
   */
  readonly tokens?: number;
  /** The time limit in milliseconds. The default is 2000. */
  readonly most?: number;
  /** True to also warm up the code that computes attention maps. Only runs with `attention: true` use this code. */
  readonly attention?: boolean;
}

/** Times are in milliseconds. */
export interface WarmedUp {
  readonly calls: number;
  /** The time of all calls and of the pauses between them. */
  readonly total: number;
  /**
   * The time of the first call. The engine had not optimised the code before this call. 0 if the call was shorter than
   * a step of the clock.
   */
  readonly first: number;
  /**
   * The time of a call after the warm-up: calls are timed in groups of 8 ms or of 50 steps of the clock, and `best` is
   * the mean of the fastest group. 0 if the clock stands still during the calls.
   */
  readonly best: number;
}

/** A compiled module, from which any number of instances can be made. */
export interface Kernel {
  readonly description: Description;
  readonly variant: Variant;
  readonly module: WebAssembly.Module;
  /** Returns an instance without weights. Throws a LadonError "mask" if the kernel does not have the mask. */
  create(options?: CreateOptions): Instance;
  /**
   * Runs the kernel on zeros, in short calls, until the calls get no faster. Then the engine has optimised the code,
   * for all instances of this kernel. Other code can run between the calls.
   */
  warmUp(options?: WarmUpOptions): Promise<WarmedUp>;
}

/** A kernel that was loaded with the option `threads`. */
export interface TeamKernel extends Omit<Kernel, "create"> {
  /** The number of workers of each instance, or 1 if threads are impossible. */
  readonly threads: number;
  /** The reason why threads are impossible, such as a page that is not cross-origin isolated; otherwise undefined. */
  readonly singleThreadReason: string | undefined;
  /** Like `Kernel.create`. Starts the workers, which the first run waits for. */
  create(options?: CreateOptions): TeamInstance;
}
