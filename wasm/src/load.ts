import { isUrl, nameOf, type ShippedName, type Wanted } from "./catalog.js";
import { checkOptions } from "./check.js";
import { loaded } from "./errors.js";
import { kernelOf } from "./kernel.js";
import type { Kernel } from "./types.js";
import { supports, type Variant, variants } from "./variants.js";

/**
 * A shipped kernel by its name or by what it is to do; where modules are (a string is a URL if it has a "/", a "." or a
 * ":": one that ends with .wasm is one module, any other the begin of three, as `${url}.${variant}.wasm` before its
 * query); or one at hand.
 */
export type KernelSource =
  | ShippedName
  | (string & {})
  | Wanted
  | URL
  | ArrayBufferLike
  | ArrayBufferView
  | CompiledModule;

declare global {
  namespace WebAssembly {
    /** In the DOM's library an interface without members, which anything at all would be; elsewhere there is none. */
    interface Module {
      readonly [Symbol.toStringTag]: "WebAssembly.Module";
    }
  }
}
export type CompiledModule = WebAssembly.Module;

export interface LoadOptions {
  /** The fastest that the engine has, where it is left out. */
  readonly variant?: Variant;
  readonly signal?: AbortSignal;
}

/** Where a module is. Whether a name is one of a shipped kernel is asked when nothing is there. */
const placeOf = (name: unknown, variant: Variant): string | URL =>
  !isUrl(name)
    ? new URL(`./modules/${name}.${variant}.wasm`, import.meta.url) // the form that bundlers look for
    : `${name}`.replace(/^(?!(data|blob):|.*\.wasm($|[?#]))[^?]*/, `$&.${variant}.wasm`);

/**
 * Compiles a kernel for this engine. Errors: "unknown-kernel", "option", "unsupported", "not-a-module", "version",
 * "network", "aborted". What goes wrong here, load-again.js does another way, or tells what it was.
 */
export const load = async (source: KernelSource, options: LoadOptions = {}): Promise<Kernel> => {
  checkOptions(options, ["variant", "signal"]);
  let module = source as any;
  let place: string | URL | undefined;
  try {
    if (module.byteLength >= 0) {
      module = await WebAssembly.compile(module);
    } else if (!(module instanceof WebAssembly.Module)) {
      place = placeOf(nameOf(source), options.variant ?? variants.find(supports)!);
      module = await WebAssembly.compileStreaming(fetch(place, options));
    }
    return await kernelOf(module, source, options.variant);
  } catch (cause) {
    const { loadAgain } = await loaded(import("./load-again.js"), place, cause);
    return loadAgain(source, place, options, cause, module);
  }
};
