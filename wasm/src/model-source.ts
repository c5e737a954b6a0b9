// SPDX-License-Identifier: Apache-2.0
// Compiles the module of a model.
import { relaxedDot } from "./activations.js";
import { classOf } from "./check.js";
import { fail } from "./fail.js";
import { describeModel } from "./model-description.js";
import { compile, isUrl, withVariant } from "./module-place.js";
import { addressOf, isBytes, readBytes, unshared } from "./read.js";
import { fastestFirst, type Variant } from "./variants.js";

/**
 * The source of a model's module: a URL, in Node also a path; the bytes; a compiled module; or a function that returns
 * the URL of the module for a variant. A URL that does not end with .wasm leads to three modules: `.${variant}.wasm` is
 * added.
 */
export type ModelSource =
  | string
  | URL
  | ((variant: Variant) => string | URL)
  | ArrayBufferLike
  | ArrayBufferView
  | WebAssembly.Module;

export interface ModuleOptions {
  /** The default is the fastest variant that the engine supports and computes correctly. */
  readonly variant?: Variant;
  readonly signal?: AbortSignal;
}

const urlOf = (source: any, variant: Variant): string | URL => {
  const url = typeof source === "function" ? source(variant) : source;
  if (isUrl(url)) return withVariant(url, variant);
  return fail("option", "module", "a URL, a function, bytes or a WebAssembly.Module", classOf(url));
};

const moduleOf = async (source: any, variant: Variant, signal?: AbortSignal): Promise<WebAssembly.Module> => {
  if (source instanceof WebAssembly.Module) return source;
  if (isBytes(source)) return compile(unshared(source), "bytes");
  const place = addressOf(() => urlOf(source, variant));
  return compile((await readBytes(place, signal)) as BufferSource, `${place}`);
};

/**
 * Compiles a module for this engine. A relaxed module with int8 or int4 weights is replaced by the SIMD module if the engine
 * computes wrong relaxed dot products.
 */
export const loadModule = async (
  source: ModelSource,
  { variant, signal }: ModuleOptions,
): Promise<WebAssembly.Module> => {
  if (typeof WebAssembly !== "object") fail("unsupported", "this engine has no WebAssembly");
  const supported = fastestFirst();
  if (variant != null && !supported.includes(variant)) fail("unsupported", "variant", supported, variant);
  const module = await moduleOf(source, variant ?? supported[0]!, signal);
  const { precision, variant: found } = describeModel(module);
  const isProbed = found === "relaxed" && /int[48]$/.test(precision);
  if (!isProbed || (await relaxedDot()) !== "wrong") return module;
  const other = await moduleOf(source, "simd", signal);
  if (describeModel(other).variant === "relaxed") {
    fail("unsupported", "relaxed dot products of this engine (other variants do not use them)", "exact sums", "wrong sums");
  }
  return other;
};
