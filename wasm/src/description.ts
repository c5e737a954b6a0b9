import type { Variant } from "./variants.js";

/** Version of the section below, with the order of its members, and of what the module's functions mean. */
export const abi = 1;

/** A C member of the kernel's weights, then its extents, row-major; `"query_proj_weight[12]"` is one for each head. */
export type TensorEntry = readonly [member: string, ...extents: number[]];

/** What a module says of itself, in its custom section `ladon`. Sizes are numbers of floats, or of tokens. */
export interface Description {
  readonly ladon: number;
  /** Of the headers that it was made from. */
  readonly version: string;
  readonly name: string;
  readonly variant: Variant;
  /** The same bits on every target. */
  readonly deterministic: boolean;
  readonly kind: "attention" | "encoder_layer" | "encoder";
  /** Most tokens that ask. */
  readonly queries: number;
  /** Most tokens that may be seen. */
  readonly keys: number;
  /** Width of a token of x and of y. */
  readonly model: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headWidth: number;
  readonly valueWidth: number;
  /** Width of a token that keys are made from, where it is not of x. */
  readonly keyModel: number;
  readonly valueModel: number;
  readonly feedForward?: number;
  readonly layers?: number;
  /** Whether keys and values are made from other tokens than x. */
  readonly context: boolean;
  readonly mask: readonly string[];
  /** What `attention()` holds: the softmax's weights, or scores on their way there. */
  readonly capture: "weights" | "none" | "scaled" | "capped" | "masked";
  readonly layout: "in_proj" | "separate_qkv" | "per_head" | "in_out";
  /** Bytes. */
  readonly workspace: number;
  /** Bytes; 0: no cache. */
  readonly cache: number;
  /** Tensors beside those of the layers. */
  readonly weights: readonly TensorEntry[];
  /** Tensors of one layer. */
  readonly layer?: readonly TensorEntry[];
  /** Members of the C function's options. */
  readonly options: readonly string[];
  /** What `ladon_add_kernel` was called with. */
  readonly arguments: string;
}

/** Reads a module's section, which nobody may change then. */
export const describe = (module: WebAssembly.Module): Description => {
  const [section] = WebAssembly.Module.customSections(module, "ladon");
  return JSON.parse(new TextDecoder().decode(section), (_, value) => Object.freeze(value));
};
