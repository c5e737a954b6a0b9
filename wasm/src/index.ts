// SPDX-License-Identifier: Apache-2.0
// The entry ladon: kernels of your own, and the shipped attention kernels by name or sizes.
import { moduleSuffixOf, type ShippedName, type Wanted } from "./catalog.js";
import { load as loadOwn, type ModuleVariant, type OwnSource } from "./core.js";
import type { Load } from "./load.js";
import { isUrl } from "./module-place.js";
import { mentionBundler } from "./shipped.js";

export * from "./core.js";
export type { ShippedName, Wanted } from "./catalog.js";

/** The source of a kernel: the name or the sizes of a shipped attention kernel, or a module of your own. */
export type KernelSource = ShippedName | Wanted | OwnSource;

/** Bundlers recognise new URL(..., import.meta.url), and copy the modules that match: those of all shipped attentions. */
const attentionUrl = (suffix: string, variant: ModuleVariant): URL =>
  new URL(`./modules/attention_${suffix}.${variant}.wasm`, import.meta.url);

/**
 * Compiles a kernel for this engine. With the option `threads`, returns a kernel whose calls several workers compute.
 * Errors: "unknown-kernel", "option", "unsupported", "not-a-module", "version", "network", "aborted".
 */
export const load: Load<KernelSource> = (source: any, options: any = {}): Promise<any> => {
  const isShipped = typeof source === "string" ? !isUrl(source) : (source?.kind ?? source?.heads) !== undefined;
  if (!isShipped) return loadOwn(source, options);
  const urlOf = (variant: ModuleVariant): URL => attentionUrl(moduleSuffixOf(source, options.precision ?? "float32"), variant);
  return loadOwn(urlOf, options).catch(mentionBundler);
};
