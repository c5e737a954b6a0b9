// SPDX-License-Identifier: Apache-2.0
import { relaxedDot, usesRelaxedDot } from "./activations.js";
import { moduleSuffixOf, type ShippedName, type Wanted } from "./catalog.js";
import { checkOptions, checkSignal, classOf } from "./check.js";
import { describe, type Precision } from "./description.js";
import { fail, failFor } from "./fail.js";
import { kernelOf } from "./kernel.js";
import { compile, isUrl, withVariant } from "./module-place.js";
import { addressOf, isBytes, readBytes, unshared } from "./read.js";
import type { Threads } from "./team.js";
import type { Kernel, LoadOptions, TeamKernel, TeamLoadOptions } from "./types.js";
import { fastestFirst, type ModuleVariant, type Variant } from "./variants.js";

/**
 * The source of a kernel: the name or the sizes of a shipped attention kernel, a URL, the bytes of a module, a compiled
 * module, or a function. A string is a URL if it contains a "/", a "." or a ":". A URL that ends with .wasm leads to one
 * module. To any other URL, `load` adds `.${variant}.wasm` before the query. So the URL leads to three modules, one for
 * each variant. A function returns the URL of the module for a variant: bundlers find the modules of
 * `` (variant) => new URL(`./k.${variant}.wasm`, import.meta.url) ``. With the option `threads`, ".threads" follows the
 * variant in each URL.
 */
export type KernelSource =
  | ShippedName
  | ((variant: ModuleVariant) => string | URL)
  | (string & {})
  | Wanted
  | URL
  | ArrayBufferLike
  | ArrayBufferView
  | CompiledModule;

declare global {
  namespace WebAssembly {
    /**
     * With this member, the compiler rejects values that are not modules. TypeScript's file lib.dom.d.ts declares
     * WebAssembly.Module without members, and the types of Node do not declare it. So without this member, the
     * interface would be empty, and a value of any type would match.
     */
    interface Module {
      readonly [Symbol.toStringTag]: "WebAssembly.Module";
    }
  }
}
export type CompiledModule = WebAssembly.Module;

/**
 * Returns the URL of an attention module of this package. Bundlers recognise new URL(..., import.meta.url) and copy the
 * modules that match. The entries of models have the URLs of their own modules.
 */
const attentionUrl = (suffix: string, variant: ModuleVariant): URL =>
  new URL(`./modules/attention_${suffix}.${variant}.wasm`, import.meta.url);

const failSource = (source: unknown): never => {
  const kind = classOf(source);
  let actual = source;
  if (kind === "Promise") actual = "a Promise (await it)";
  if (["Response", "Blob", "File"].includes(kind)) actual = `a ${kind} (give its URL, or its arrayBuffer())`;
  return fail("unknown-kernel", "source of a kernel", "a name, sizes, a URL, bytes or a WebAssembly.Module", actual);
};

const placeOf = (source: any, variant: ModuleVariant, precision: Precision = "float32"): string | URL => {
  if (isUrl(source)) return withVariant(source, variant);
  if (typeof source === "function") {
    const url = source(variant);
    return isUrl(url) ? url : failSource(url);
  }
  if (typeof source !== "string" && !source?.kind) return failSource(source);
  return attentionUrl(moduleSuffixOf(source, precision), variant);
};

/** Returns true if the source leads to several modules, one for each variant. */
const hasVariants = (source: any): boolean =>
  !isBytes(source) && !(source instanceof WebAssembly.Module) && !(isUrl(source) && withVariant(source, "simd") === `${source}`);

/**
 * Reads a module. If a module of the package cannot be read, the message of the error mentions the bundler. Some
 * bundlers, such as esbuild, do not copy the modules of the package.
 */
const readModule = (source: unknown, place: string | URL, signal?: AbortSignal): Promise<Uint8Array> =>
  readBytes(place, signal).catch((cause) => {
    if (isUrl(source) || typeof source === "function" || cause.code !== "network") throw cause;
    return fail("network", `${cause.message}; does your bundler copy ladon/dist/modules?`, undefined, undefined, cause);
  });

interface ModuleOptions extends LoadOptions {
  /** The text behind the variant in the URL: ".threads" for modules for threads. */
  readonly suffix: "" | ".threads" | undefined;
}

const chooseThreads = async (count: number, variant?: Variant): Promise<Threads> => {
  const { Threads } = await import("./team.js").catch((cause) => failFor("network", cause));
  return new Threads(count, variant);
};

/** Compiles the module of a source. If the source has a module for each variant, compiles the module for `variant`. */
const moduleOf = async (
  source: any,
  variant: Variant,
  { precision, signal, suffix = "" }: ModuleOptions,
): Promise<WebAssembly.Module> => {
  if (source instanceof WebAssembly.Module) return source;
  if (isBytes(source)) return compile(unshared(source), "bytes");
  const place = addressOf(() => placeOf(source, `${variant}${suffix}`, precision));
  return compile((await readModule(source, place, signal)) as BufferSource, `${place}`);
};

/** Returns true if the error means that a URL leads to no module. Some servers send a page of HTML in place of a file. */
const isMissing = ({ code, actual, cause }: any): boolean =>
  (code === "network" && ([403, 404, 410].includes(actual) || cause?.code === "ENOENT")) ||
  (code === "not-a-module" && /^text that/.test(actual));

/**
 * Compiles the module of the first variant that a source has. The source may lack variants: a DETERMINISTIC int8 kernel
 * has no relaxed module. If all variants are missing, throws the error of the first.
 */
const firstModuleOf = async (
  source: any,
  candidates: readonly Variant[],
  options: ModuleOptions,
): Promise<WebAssembly.Module> => {
  const [variant, ...others] = candidates;
  return moduleOf(source, variant!, options).catch((error) => {
    if (!others.length || !isMissing(error)) throw error;
    return firstModuleOf(source, others, options).catch((other) => {
      throw isMissing(other) ? error : other;
    });
  });
};

const checkLoadOptions = (options: Partial<TeamLoadOptions>): void => {
  checkOptions(options, ["variant", "precision", "activationBits", "threads", "signal"]);
  const { precision, activationBits, signal } = options;
  checkSignal(signal);
  const check = (name: string, value: unknown, known: readonly unknown[]): void => {
    if (value != null && !known.includes(value)) fail("option", name, known, value);
  };
  check("precision", precision, ["float32", "bfloat16", "int8"]);
  check("activationBits", activationBits, [7, 8]);
};

interface Load {
  (source: KernelSource, options: TeamLoadOptions): Promise<TeamKernel>;
  (source: KernelSource, options?: LoadOptions): Promise<Kernel>;
}

/**
 * Compiles a kernel for this engine. With the option `threads`, returns a kernel whose calls several workers compute.
 * Errors: "unknown-kernel", "option", "unsupported", "not-a-module", "version", "network", "aborted".
 */
export const load: Load = async (source: KernelSource, options: Partial<TeamLoadOptions> = {}): Promise<any> => {
  checkLoadOptions(options);
  const { variant, precision, activationBits, threads } = options;
  if (typeof WebAssembly !== "object") fail("unsupported", "this engine has no WebAssembly");
  const supported = fastestFirst();
  if (variant != null && !supported.includes(variant)) fail("unsupported", "variant", supported, variant);
  const team = threads === undefined ? undefined : await chooseThreads(threads, variant);
  const isChoice = variant == null && hasVariants(source);
  const candidates = isChoice ? supported : [variant ?? supported[0]!];
  const ofModule = { ...options, suffix: team?.suffix };
  // relaxedDot() tests the engine while moduleOf() downloads and compiles the module.
  const isProbed = precision === "int8" && candidates[0] === "relaxed";
  const [module] = await Promise.all([
    firstModuleOf(source, candidates, ofModule).catch((error) => {
      throw team && [error, error.cause ?? 0].some(isMissing) ? team.missing(error) : error;
    }),
    isProbed && relaxedDot(),
  ]);
  const dot = isChoice && usesRelaxedDot(describe(module)) && (await relaxedDot());
  const isReplaced = dot === "wrong" || (dot === "saturating" && activationBits === 8);
  return kernelOf(isReplaced ? await moduleOf(source, "simd", ofModule) : module, options, team);
};
