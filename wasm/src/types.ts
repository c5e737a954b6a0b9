/// <reference lib="esnext.disposable" preserve="true" />
import type { Description } from "./description.js";
import type { Variant } from "./variants.js";

/** What may be hidden from every query, as far as the kernel leaves it open. */
export type Mask = "none" | "causal" | "padding" | readonly ("causal" | "padding")[];

export interface CreateOptions {
  /**
   * `"causal"`: query i of q sees the keys up to i + k - q of k. `"padding"`: keys that `run`'s `padding` hides.
   * Left out: what the kernel cannot do without, and whatever a run's options give.
   */
  readonly mask?: Mask;
}

export interface RunOptions {
  /** Tokens of x that take part; all where it is left out, none where it is 0. The same goes for the next two. */
  readonly tokens?: number;
  /** Rows of x that ask: y has so many. Usually as many as `tokens`; with a context all. */
  readonly queries?: number;
  /** Tokens that may be seen. Usually as many as `tokens`; with a context all. */
  readonly keys?: number;
  /** Query i stands at i + offset among the keys. */
  readonly offset?: number;
  /** [keys][keyModel]: the tokens that keys and values are made from, of a kernel with CONTEXT. */
  readonly context?: ArrayLike<number>;
  /** [keys]: 0 or false hides a key. */
  readonly padding?: ArrayLike<number | bigint | boolean>;
  /** [queries][ceil(description.keys / 32)]: bit k % 32 of word k / 32 shows key k to a query. */
  readonly bits?: ArrayLike<number>;
  /** [queries][keys], or with boolean_per_head [heads][queries][keys]: 0 or false hides a key from a query. */
  readonly boolean?: ArrayLike<number | bigint | boolean>;
  /** [queries][keys], or with additive_per_head [heads][queries][keys]: joins each score; -Infinity hides. */
  readonly additive?: ArrayLike<number>;
  /** [heads]: ALiBi's; the paper's where they are left out. */
  readonly slopes?: ArrayLike<number>;
  /** [heads]: needed by a kernel with SINKS. */
  readonly sinks?: ArrayLike<number>;
  /** Of a kernel with ROTARY: angles are (position + offset) / scaling * base^(-2 pair / width). */
  readonly rotary?: { readonly base?: number; readonly scaling?: number; readonly offset?: number };
  /** Whether `attention()` shall hold what this run looks at. */
  readonly attention?: boolean;
}

export interface SetOptions {
  /** What stands before the tensors' names, such as "encoder.layer.0.attention"; the dot between is optional. */
  readonly prefix?: string;
}

export interface LoadWeightsOptions extends SetOptions {
  /** Called as bytes arrive, with how many there are, and how many there will be. */
  readonly progress?: (bytes: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/** A safetensors file: where it is, or itself. A string is a URL, relative to the page or, in Node, the directory. */
export type WeightsSource = string | URL | Response | ReadableStream<Uint8Array> | Blob | ArrayBufferLike | ArrayBufferView;

export interface Weights {
  /**
   * Copies tensors, all F32, after all were checked. Names are PyTorch's, Hugging Face's of BERT and Llama, or those of
   * the C members; each array has the tensor's numbers, row-major. In place of all weights that there were.
   */
  set(tensors: Readonly<Record<string, Float32Array>>, options?: SetOptions): void;
  /**
   * Streams a safetensors file into the instance's memory and uses it where it lies. Tensors that the kernel does not
   * need may be of any dtype. On any error, an abort among them, the weights are what they were.
   */
  load(source: WeightsSource, options?: LoadWeightsOptions): Promise<void>;
  /** A view of any F32 tensor of the file, or the record, that the weights came from. Valid until the next call. */
  tensor(name: string): Float32Array;
}

/**
 * A kernel with memory, workspace and weights of its own. Views are valid until the next call on their instance; memory
 * grows in `weights.set`, `weights.load` and a first `run` with `attention`, and a view from before then has length 0.
 */
export interface Instance {
  readonly description: Description;
  readonly weights: Weights;
  /**
   * @param x [tokens][model], or more exactly as many rows as the longer of `queries` and `keys` (with a context:
   *   `queries`); or all rows that the kernel has room for, of which the first are read
   * @returns a view of y, [queries][model]
   */
  run(x: ArrayLike<number>, options?: RunOptions): Float32Array;
  /**
   * What the last run looked at, if it was asked for: [heads][description.queries][description.keys], so query i of
   * head h has its row at (h * description.queries + i) * description.keys, whatever the run's lengths. Rows of queries
   * that took no part have no meaning.
   */
  attention(layer?: number): Float32Array;
  /** Tokens in the cache of a kernel with CACHE: of x that `run` extended it by, or of the last run's `context`. */
  readonly cached: number;
  /** Forgets what is in the cache, as new weights do too. */
  clear(): void;
  /** Lets go of the memory; every later call is a LadonError "closed". A second time does nothing. */
  free(): void;
  [Symbol.dispose](): void;
}

export interface WarmUpOptions {
  /** Of each call: short ones, for the engine swaps a function's code between two calls only. 32 by default. */
  readonly tokens?: number;
  /** At most so long, in milliseconds; 2000 by default. */
  readonly most?: number;
  /** Whether runs with `attention: true` shall be warm: they have code of their own. */
  readonly attention?: boolean;
}

/** Milliseconds. */
export interface WarmedUp {
  readonly calls: number;
  /** Of all calls and the pauses between them. */
  readonly total: number;
  /** Of the first call, of code that the engine had not optimised. */
  readonly first: number;
  /** Of the shortest call. */
  readonly best: number;
}

/** A compiled module, from which any number of instances are made. */
export interface Kernel {
  readonly description: Description;
  readonly variant: Variant;
  readonly module: WebAssembly.Module;
  /** An instance, without weights. A mask that the kernel cannot do is a LadonError "mask". */
  create(options?: CreateOptions): Instance;
  /**
   * Runs on zeros, in short calls and without weights, until they get no faster: the engine has optimised the code,
   * for all instances of this kernel. It lets others work between two calls.
   */
  warmUp(options?: WarmUpOptions): Promise<WarmedUp>;
}
