// SPDX-License-Identifier: Apache-2.0
import { relaxedDot, usesRelaxedDot } from "./activations.js";
import { checkOptions, checkSignal, classOf } from "./check.js";
import { describe } from "./description.js";
import { isIntegerType } from "./element-types.js";
import { fail, failFor } from "./fail.js";
import { kernelOf } from "./kernel.js";
import { compile, isUrl, withVariant } from "./module-place.js";
import { addressOf, isBytes, readBytes, unshared } from "./read.js";
import type { Threads } from "./team.js";
import type { Kernel, LoadOptions, TeamKernel, TeamLoadOptions } from "./types.js";
import { fastestFirst, type ModuleVariant, type Variant } from "./variants.js";

/**
 * The source of a kernel of your own: a URL, the bytes of a module, a compiled module, or a function. A string is a URL
 * if it contains a "/", a "." or a ":". A URL that ends with .wasm leads to one module. To any other URL, `load` adds `.${variant}.wasm` before the query. So the URL leads to three modules, one for
 * each variant. A function returns the URL of the module for a variant: bundlers find the modules of
 * `` (variant) => new URL(`./k.${variant}.wasm`, import.meta.url) ``. With the option `threads`, ".threads" follows the
 * variant in each URL.
 */
export type OwnSource =
  | ((variant: ModuleVariant) => string | URL)
  | (string & {})
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

const failSource = (source: unknown): never => {
  const kind = classOf(source);
  let actual = source;
  if (kind === "Promise") actual = "a Promise (await it)";
  if (["Response", "Blob", "File"].includes(kind)) actual = `a ${kind} (give its URL, or its arrayBuffer())`;
  return fail("unknown-kernel", "source of a kernel", "a name, sizes, a URL, bytes or a WebAssembly.Module", actual);
};

const placeOf = (source: any, variant: ModuleVariant): string | URL => {
  if (isUrl(source)) return withVariant(source, variant);
  if (typeof source === "string" || source?.kind) {
    fail("unknown-kernel", "source of a kernel in ladon/core", "a module (`load` of ladon takes names and sizes)", source);
  }
  if (typeof source !== "function") return failSource(source);
  const url = source(variant);
  return isUrl(url) ? url : failSource(url);
};

/** Returns true if the source leads to several modules, one for each variant. */
const hasVariants = (source: any): boolean =>
  !isBytes(source) && !(source instanceof WebAssembly.Module) && !(isUrl(source) && withVariant(source, "simd") === `${source}`);

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
  { signal, suffix = "" }: ModuleOptions,
): Promise<WebAssembly.Module> => {
  if (source instanceof WebAssembly.Module) return source;
  if (isBytes(source)) return compile(unshared(source), "bytes");
  const place = addressOf(() => placeOf(source, `${variant}${suffix}`));
  return compile((await readBytes(place, signal)) as BufferSource, `${place}`);
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
  check("precision", precision, ["float32", "bfloat16", "int8", "int4"]);
  check("activationBits", activationBits, [7, 8]);
};

export interface Load<Source> {
  (source: Source, options: TeamLoadOptions): Promise<TeamKernel>;
  (source: Source, options?: LoadOptions): Promise<Kernel>;
}

/**
 * Compiles a kernel for this engine. With the option `threads`, returns a kernel whose calls several workers compute.
 * Errors: "unknown-kernel", "option", "unsupported", "not-a-module", "version", "network", "aborted".
 */
export const load: Load<OwnSource> = async (source: OwnSource, options: Partial<TeamLoadOptions> = {}): Promise<any> => {
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
  const isProbed = isIntegerType(precision ?? "") && candidates[0] === "relaxed";
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
