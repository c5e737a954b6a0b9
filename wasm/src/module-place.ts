// SPDX-License-Identifier: Apache-2.0
// Finds and compiles the module of a variant. Kernels and models share these functions.
import { failModule } from "./module-bytes.js";
import type { ModuleVariant } from "./variants.js";

export const isUrl = (source: unknown): source is string | URL =>
  source instanceof URL || (typeof source === "string" && /[./:]/.test(source));

/**
 * Returns the URL of the module for `variant`. Returns `url` unchanged if it already leads to one module: a URL that
 * ends with .wasm, a data: URL or a blob: URL.
 */
export const withVariant = (url: string | URL, variant: ModuleVariant): string =>
  `${url}`.replace(/^(?!(data|blob):|.*\.wasm($|[?#]))[^?]*/, `$&.${variant}.wasm`);

export const compile = async (bytes: BufferSource, place: string): Promise<WebAssembly.Module> =>
  WebAssembly.compile(bytes).catch((cause) => failModule(bytes, cause, place));
