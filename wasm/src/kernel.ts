// SPDX-License-Identifier: Apache-2.0
import { chooseActivations } from "./activations.js";
import { describe } from "./description.js";
import { isIntegerType } from "./element-types.js";
import { fail, failFor } from "./fail.js";
import { createInstance } from "./instance.js";
import type { Threads } from "./team.js";
import type { CreateOptions, Kernel, LoadOptions, TeamKernel, WarmUpOptions } from "./types.js";

/**
 * Returns the kernel of a compiled module, for `threads` a TeamKernel. Errors: "not-a-module", "version", "unsupported",
 * "option", "network".
 */
export const kernelOf = async (
  module: WebAssembly.Module,
  wanted: LoadOptions,
  threads?: Threads,
): Promise<Kernel | TeamKernel> => {
  const inModule = describe(module);
  const { variant, precision } = inModule;
  if (wanted.variant && variant !== wanted.variant) fail("unsupported", "variant", wanted.variant, variant);
  if (wanted.precision && precision !== wanted.precision) {
    fail("unsupported", "precision", wanted.precision, precision);
  }
  const isForThreads = Boolean(inModule.threads) && WebAssembly.Module.imports(module).length > 0;
  if (threads) threads.check(inModule, isForThreads);
  else if (isForThreads) fail("option", "threads, for a module that shares memory", "a number", undefined);
  const hasIntegers = isIntegerType(precision);
  if (wanted.activationBits && !hasIntegers) fail("option", "precision for activationBits", "int8 or int4", precision);
  const chosen = hasIntegers ? await chooseActivations(inModule, wanted.activationBits) : undefined;
  const description = chosen ? Object.freeze({ ...inModule, activationBits: chosen.bits }) : inModule;
  // `activations` is the argument of the exported function set_activations: the format of quantised inputs. A module
  // exports this function only if its description has activationBits 8. For other modules, `activations` is undefined.
  const activations = inModule.activationBits === 8 ? chosen : undefined;
  const needsTables = inModule.rotary || inModule.mask.includes("relative");
  const tables = needsTables
    ? await import("./position-tables.js").catch((cause) => failFor("network", cause))
    : undefined;
  const parts = { module, description, activations, tables };
  return {
    description,
    variant,
    module,
    ...(threads && { threads: threads.count, singleThreadReason: threads.lack }),
    create: (options?: CreateOptions): any => createInstance(parts, options, threads),
    async warmUp(options?: WarmUpOptions) {
      const { warmUp } = await import("./warm-up.js").catch((cause) => failFor("network", cause));
      return warmUp(parts, options, threads);
    },
  };
};
