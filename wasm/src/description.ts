// SPDX-License-Identifier: Apache-2.0
import { isSize } from "./check.js";
import { isIntegerType, isWeightType, type WeightType } from "./element-types.js";
import { fail } from "./fail.js";
import { readSection } from "./module-section.js";
import { arrayTypes, numberTypes } from "./option-types.js";
import type { Variant } from "./variants.js";

/**
 * The version of the interface between modules and this package. Any change of the format of descriptions, or of a
 * function that modules export, needs a new version.
 */
export const abi = 6;

export type Precision = "float32" | "bfloat16" | "int8" | "int4";
/** The precisions of the kernels that the package ships. */
export type ShippedPrecision = Exclude<Precision, "bfloat16" | "int4">;
export type CachePrecision = "float32" | "bfloat16" | "int8";

/** Describes a tensor among the weights of a kernel. Its elements are row-major. */
export interface Tensor {
  /**
   * The member of the C struct of the weights. Members of a layer's attention begin with "attention.", in a decoder with
   * "self_attention." and "cross_attention.".
   */
  readonly name: string;
  readonly type: WeightType;
  readonly shape: readonly number[];
  /** Of a matrix of int4 weights: the number of weights of a row. `shape` has the number of its bytes. */
  readonly inputs?: number;
  /** The number of matrices of this shape, if each head has a separate matrix. */
  readonly count?: number;
}

/**
 * The type of a member of the C struct of options: a length, a signed offset, a float, a pointer to an array of
 * numbers, or a pointer to a rotary table.
 */
export type OptionType = "size" | "offset" | "number" | "uint8" | "uint32" | "float32" | "rotary_table";

/** Describes a member of the C struct of options, or an array that a C function takes. */
export interface Option {
  /** The options of a decoder's attention to its memory begin with "memory.". */
  readonly name: string;
  readonly type: OptionType;
  /** The extents of an array, row-major. */
  readonly shape?: readonly number[];
  /**
   * What each extent of `shape` counts, such as "queries" or "keys". `shape` has the extents for the largest run. The
   * array of a shorter run may be smaller: its extents are then the numbers of queries and keys of that run.
   */
  readonly axes?: readonly string[];
  /** The names of the masks that need the option. */
  readonly masks?: readonly string[];
  /**
   * The name of an array, such as "boolean". An option with `of` is the number of columns of this array: for example,
   * boolean_keys. The package sets such an option, and the caller does not.
   */
  readonly of?: string;
  /** True if the kernel writes the array. */
  readonly output?: boolean;
  /** True if every call needs the option. */
  readonly required?: boolean;
  /**
   * The number of pointers in the option. The option `attention` of a stack of layers has one pointer for each layer.
   */
  readonly count?: number;
}

/** A function that the module exports. */
export interface ModuleFunction {
  readonly name: string;
  /** The names of the parameters. The parameters with the names of `arrays` are their addresses. */
  readonly parameters: readonly string[];
}

/**
 * Describes the kernel in a module, as JSON in the module's custom section `ladon`. Sizes are numbers of floats or of
 * tokens, except `workspace`, `cache` and `memoryCache`, which are in bytes.
 */
export interface Description {
  readonly ladon: number;
  /** The version of the C++ headers that the module was made from. */
  readonly version: string;
  readonly name: string;
  readonly variant: Variant;
  /** True if the kernel computes bit-identical results on every processor (DETERMINISTIC). */
  readonly deterministic: boolean;
  readonly kind: "attention" | "encoder_layer" | "encoder" | "decoder_layer" | "decoder";
  /** The largest number of queries. */
  readonly queries: number;
  /** The largest number of keys. */
  readonly keys: number;
  /** The largest number of tokens in the memory of a decoder. Undefined for other kernels. */
  readonly memory?: number;
  /** The width of a token of x and of y. */
  readonly model: number;
  readonly heads: number;
  readonly kvHeads: number;
  readonly headWidth: number;
  readonly valueWidth: number;
  /** The width of a token from which keys are projected. */
  readonly keyModel: number;
  /** The width of a token from which values are projected. */
  readonly valueModel: number;
  readonly feedForward?: number;
  /** The number of layers of a stack. */
  readonly layers?: number;
  /** The numbers of the layers whose attention has no norm. The tensors of norm1 may be missing in these layers. */
  readonly unnormed?: readonly number[];
  /** True if keys and values come from other tokens than x: from a context, or from the arrays k and v. */
  readonly context: boolean;
  readonly mask: readonly string[];
  /** The type of the matrices among the weights. An int8 or int4 matrix has a scale and a sum for each row. */
  readonly precision: Precision;
  /**
   * The bits to which the inputs of products with int8 or int4 weights are quantised. In a module's own description, this is
   * the value of ACTIVATION_BITS. In `Kernel.description`, 8 becomes 7 if the engine supports only 7 bits or if the
   * caller asked for 7.
   */
  readonly activationBits?: 7 | 8;
  /**
   * True if the kernel reads rotated int8 weights (ROTATED). Weights that are given as floats are rotated and quantised
   * when they are loaded. int8 weights of a checkpoint must be rotated already (`ladon-weights quantise --rotate`).
   */
  readonly rotated?: boolean;
  /**
   * What `Instance.attention()` returns: the attention weights ("weights"), nothing ("none"), or the scores after
   * scaling ("scaled"), after SOFTCAP ("capped") or after the masks ("masked").
   */
  readonly capture: "weights" | "none" | "scaled" | "capped" | "masked";
  readonly layout: "in_proj" | "separate_qkv" | "per_head" | "in_out" | "in_proj_in_out";
  /** The number of blocks of in_proj, if above 1. Each block has the rows of its queries, then its keys and values. */
  readonly projectionBlocks?: number;
  /** True if the values come before the keys in each block of in_proj. */
  readonly valuesBeforeKeys?: boolean;
  /** The size of the workspace in bytes. */
  readonly workspace: number;
  /** The size of the cache in bytes; 0 if the kernel has no cache. */
  readonly cache: number;
  /** The size of the cache with the keys and values of a decoder's memory; 0 if the kernel has no such cache. */
  readonly memoryCache: number;
  /** The type of the keys and values in the cache. Kernels without a cache have no cachePrecision. */
  readonly cachePrecision?: CachePrecision;
  /** Kernels with THREADS: the phases of a call, and the bytes of a team's workspace: `shared`, and `scratch` a thread. */
  readonly threads?: { readonly phases: number; readonly shared: number; readonly scratch: number };
  /** For attention kernels, all tensors. For layers and stacks of layers, only the tensors outside the layers. */
  readonly weights: readonly Tensor[];
  /** The tensors of one layer. Undefined for attention kernels. */
  readonly layer?: readonly Tensor[];
  /** The arrays that the functions take, besides the weights. */
  readonly arrays: readonly Option[];
  /** The members of the C struct of options, in their order. */
  readonly options: readonly Option[];
  readonly functions: readonly ModuleFunction[];
  /** The size of the rotary table, if the kernel has a rotary embedding. */
  readonly rotary?: { readonly positions: number; readonly width: number };
  /** The arguments of `ladon_add_kernel`. */
  readonly arguments: string;
}

const sizes = ["queries", "keys", "model", "heads", "headWidth", "keyModel", "valueModel", "workspace", "cache", "memoryCache"];
const isShape = (shape: unknown): boolean => Array.isArray(shape) && shape.every(isSize);
const isNames = (names: unknown = []): boolean => Array.isArray(names) && names.every((name) => typeof name === "string");
const otherTypes = { ...numberTypes, rotary_table: 0 };
/**
 * The largest number of pointers in a C struct. A damaged description may have a huge `count` or `layers`. Without this
 * limit, the package could then allocate gigabytes.
 */
const mostPointers = 65536;
const isCount = (count: unknown = 1): boolean => isSize(count) && count <= mostPointers;
const isNamed = ({ name, count }: any): boolean => typeof name === "string" && isCount(count);
const isTensor = (one: any): boolean =>
  isNamed(one) && isWeightType(one.type) && isShape(one.shape) && (one.type !== "int4" || isSize(one.inputs));
const isOption = (one: any): boolean =>
  isNamed(one) &&
  isNames(one.axes) &&
  isNames(one.masks) &&
  Object.hasOwn(one.shape ? arrayTypes : otherTypes, one.type) &&
  isShape(one.shape ?? []);
const isArray = (one: any): boolean => isOption(one) && isShape(one.shape) && one.shape.length > 1;
const isFunction = (one: any): boolean => isNamed(one) && isNames(one.parameters ?? 0);
/**
 * Returns true if `list` is an array, all its entries pass `isOne`, and the C struct needs at most mostPointers
 * pointers for them. The struct contains the entries `times` times: a layer's entries once for each layer.
 */
const isListOf = (isOne: (one: any) => boolean, list: unknown, times = 1): boolean =>
  Array.isArray(list) &&
  list.every((one) => isOne(one ?? 0)) &&
  list.reduce((sum, { count = 1 }) => sum + count, 0) * times <= mostPointers;

/** Throws if the description is of another version, or lacks a field that this package reads. */
const checkDescription = (given: any): void => {
  if (given?.ladon !== undefined && given.ladon !== abi) fail("version", "module's format", abi, given.ladon);
  const isSound: Record<string, boolean> = {
    mask: isNames(given?.mask ?? 0),
    precision: ["float32", "bfloat16", "int8", "int4"].includes(given?.precision),
    memory: isSize(given?.memory ?? 0),
    activationBits: !isIntegerType(given?.precision) || given?.activationBits === 7 || given?.activationBits === 8,
    rotated: given?.rotated === undefined || given.rotated === true,
    weights: isListOf(isTensor, given?.weights),
    layers: isCount(given?.layers),
    unnormed: isShape(given?.unnormed ?? []),
    layer: given?.layer === undefined || isListOf(isTensor, given?.layer, given?.layers),
    layout: typeof given?.layout === "string",
    arrays: isListOf(isArray, given?.arrays) && [true, undefined].every((one) => given.arrays.some(({ output }: any) => output === one)),
    options: isListOf(isOption, given?.options),
    functions: isListOf(isFunction, given?.functions),
    threads: given?.threads === undefined || ["phases", "shared", "scratch"].every((name) => isSize(given.threads?.[name])),
    rotary: given?.rotary === undefined || (isSize(given?.rotary?.positions) && isSize(given?.rotary?.width)),
  };
  const wrong = [...sizes.filter((name) => !isSize(given?.[name])), ...Object.keys(isSound).filter((name) => !isSound[name])];
  if (given?.ladon === undefined) wrong.unshift("ladon");
  if (wrong.length) fail("not-a-module", "description of a module", `fields ${wrong}`, "other values or none");
};

/** Reads and checks a module's description. The description is frozen. */
export const describe = (module: WebAssembly.Module): Description => {
  const description = readSection(module, "ladon_add_kernel");
  checkDescription(description);
  return description;
};

/**
 * A tensor of one kernel. In a stack, the name of a layer's tensor begins with "layers." and the number of the layer.
 * If each head has a separate matrix, `shape` begins with the number of matrices.
 */
export interface Slot {
  readonly name: string;
  readonly type: WeightType;
  readonly shape: readonly number[];
  /** Of int4 weights: the number of weights of a row. */
  readonly inputs?: number;
  /**
   * The number of pointers in the C struct that point into this tensor. They divide the tensor into parts of equal
   * size.
   */
  readonly pointers: number;
  /** True if the tensor may be missing. Its pointers are then null. */
  readonly optional?: boolean;
}

/** Returns all tensors of a kernel, in the order of the pointers in the C struct of the weights. */
export const slotsOf = ({ layers, layer = [], weights, unnormed = [] }: Description): Slot[] => {
  const slotOf = (prefix: string, { name, type, shape, inputs, count }: Tensor): Slot => ({
    name: prefix + name,
    type,
    inputs,
    shape: count === undefined ? shape : [count, ...shape],
    pointers: count ?? 1,
  });
  const prefixes = layers === undefined ? [""] : Array.from({ length: layers }, (_, i) => `layers.${i}.`);
  return [
    ...prefixes.flatMap((prefix, i) =>
      layer.map((tensor) => ({
        ...slotOf(prefix, tensor),
        optional: unnormed.includes(i) && tensor.name.startsWith("norm1_"),
      })),
    ),
    ...weights.map((tensor) => slotOf("", tensor)),
  ];
};
