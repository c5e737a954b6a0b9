import { attentions, mostTokens, placeOf, type ShippedName, type Wanted } from "./catalog.js";
import { fail } from "./errors.js";
import type { Told } from "./explain.js";
import { kernelOf } from "./kernel.js";
import { failRead, open } from "./open.js";
import type { Kernel } from "./types.js";
import { supports, type Variant, variants } from "./variants.js";

/**
 * A shipped kernel by its name or by what it is to do; where modules are (a string is a URL if it has a "/" or a ".":
 * one that ends with .wasm is one module, any other the begin of three, as `${url}.${variant}.wasm`); or one at hand.
 */
export type KernelSource =
  | ShippedName
  | (string & {})
  | Wanted
  | URL
  | ArrayBuffer
  | ArrayBufferView
  | CompiledModule;

/** TypeScript's WebAssembly.Module is an interface without members, which anything at all would be. */
export type CompiledModule = WebAssembly.Module & object & { readonly kind?: never };

export interface LoadOptions {
  /** The fastest that the engine has, where it is left out. */
  readonly variant?: Variant;
  readonly signal?: AbortSignal;
}

const explained = async (): Promise<[typeof import("./explain.js"), Told]> => [
  await import("./explain.js"),
  { fail, attentions, mostTokens, supports, variants },
];

const compile = async (bytes: BufferSource): Promise<WebAssembly.Module> => {
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    const [{ explainModule }, told] = await explained();
    return explainModule(told, bytes, cause);
  }
};

const fetchModule = async (url: string | URL, signal?: AbortSignal): Promise<WebAssembly.Module> => {
  const response = await open(url, signal);
  const copy = response.clone();
  // It wants the MIME type that not all servers know; then, and to tell what else is wrong, the bytes are looked at.
  try {
    return await WebAssembly.compileStreaming(response);
  } catch {
    return compile(await copy.arrayBuffer().catch((cause) => failRead(`${url}`, cause, signal)));
  }
};

const moduleOf = async (source: any, variant: Variant, signal?: AbortSignal): Promise<WebAssembly.Module> => {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return compile(source as BufferSource);
  const url = `${source}`;
  const isUrl = source instanceof URL || (typeof source === "string" && /[./]/.test(source));
  if (isUrl) return fetchModule(/\.wasm($|[?#])|^(data|blob):/.test(url) ? url : `${url}.${variant}.wasm`, signal);
  const place = placeOf(source, variant);
  if (place) return fetchModule(place, signal);
  const [{ explainKernel }, told] = await explained();
  return explainKernel(told, source);
};

/**
 * Compiles a kernel for this engine. Errors: "unknown-kernel", "unsupported", "not-a-module", "version", "network",
 * "aborted".
 */
export const load = async (source: KernelSource, { variant, signal }: LoadOptions = {}): Promise<Kernel> => {
  const usable = variants.filter(supports);
  const chosen = variant ?? usable[0]!;
  if (!usable.includes(chosen)) fail("unsupported", "variant", usable, chosen);
  const kernel = await kernelOf(await moduleOf(source, chosen, signal));
  if (variant && kernel.variant !== variant) fail("unsupported", "variant", variant, kernel.variant);
  return kernel;
};
