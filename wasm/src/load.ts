import { placeOf, type ShippedName, type Wanted } from "./catalog.js";
import { fail } from "./errors.js";
import { kernelOf } from "./kernel.js";
import type { Kernel } from "./types.js";
import { supports, type Variant, variants } from "./variants.js";

/**
 * A shipped kernel by its name or by what it is to do; where modules are (a string is a URL if it has a "/" or a ".":
 * one that ends with .wasm is one module, any other the begin of three, as `${url}.${variant}.wasm`); or one at hand.
 */
export type KernelSource = ShippedName | (string & {}) | Wanted | URL | ArrayBuffer | ArrayBufferView | CompiledModule;

/** TypeScript's WebAssembly.Module is an interface without members, which anything at all would be. */
export type CompiledModule = WebAssembly.Module & object & { readonly kind?: never };

export interface LoadOptions {
  /** The fastest that the engine has, where it is left out. */
  readonly variant?: Variant;
  readonly signal?: AbortSignal;
}

const moduleOf = async (source: any, variant: Variant, signal?: AbortSignal): Promise<WebAssembly.Module> => {
  if (source instanceof WebAssembly.Module) return source;
  const isBytes = source instanceof ArrayBuffer || ArrayBuffer.isView(source);
  const text = `${source}`;
  const isUrl = source instanceof URL || (typeof source === "string" && /[./]/.test(source));
  const url = isUrl
    ? /\.wasm($|[?#])|^(data|blob):/.test(text)
      ? text
      : `${text}.${variant}.wasm`
    : placeOf(source, variant);
  try {
    return await (isBytes
      ? WebAssembly.compile(source as BufferSource)
      : WebAssembly.compileStreaming(fetch(url!, { signal })));
  } catch (cause) {
    const { explainKernel, explainModule, recoverUrl } = await import("./recover.js");
    return isBytes
      ? explainModule(source as BufferSource, cause)
      : url
        ? recoverUrl(url, signal)
        : explainKernel(source);
  }
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
