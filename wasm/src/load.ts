import { nameOf, placeOf, type ShippedName, type Wanted } from "./catalog.js";
import { fail } from "./errors.js";
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
  | WebAssembly.Module;

export interface LoadOptions {
  /** The fastest that the engine has, where it is left out. */
  readonly variant?: Variant;
  readonly signal?: AbortSignal;
}

const compile = async (bytes: ArrayBuffer | ArrayBufferView): Promise<WebAssembly.Module> => {
  try {
    return await WebAssembly.compile(bytes as BufferSource);
  } catch (cause) {
    const text = new TextDecoder("latin1").decode(bytes as BufferSource);
    const [, variant] = /"ladon":.*"variant": ?"(\w+)"/.exec(text) ?? [];
    if (variant && !supports(variant as Variant)) lack(variant);
    return fail("not-a-module", "module", "WebAssembly", cause, cause);
  }
};

const lack = (variant: unknown): never => fail("unsupported", "variant", variants.filter(supports), variant);

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

/**
 * Compiles a kernel for this engine. Errors: "unknown-kernel", "unsupported", "not-a-module", "version", "network",
 * "aborted".
 */
export const load = async (source: KernelSource, { variant, signal }: LoadOptions = {}): Promise<Kernel> => {
  const [best] = variants.filter(supports);
  const chosen = variant ?? best!;
  if (!best || (variant && !supports(variant))) lack(chosen);
  const finish = (module: WebAssembly.Module): Kernel => {
    const kernel = kernelOf(module);
    return variant && kernel.variant !== variant ? fail("unsupported", "module's variant", variant, kernel.variant) : kernel;
  };
  if (source instanceof WebAssembly.Module) return finish(source);
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return finish(await compile(source));
  let url: string | URL;
  if (source instanceof URL || (typeof source === "string" && /[./]/.test(source))) {
    url = /\.wasm($|[?#])|^(data|blob):/.test(`${source}`) ? source : `${source}.${chosen}.wasm`;
  } else {
    url = placeOf(typeof source === "string" ? source : nameOf(source), chosen);
  }
  return finish(await fetchModule(url, signal));
};
