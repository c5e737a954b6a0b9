// SPDX-License-Identifier: Apache-2.0
import { describe } from "./description.js";
import { fail, failFor } from "./fail.js";
import { createInstance } from "./instance.js";
import type { Kernel } from "./types.js";
import type { Variant } from "./variants.js";

/** Returns the kernel of a compiled module. Errors: "not-a-module", "version", "unsupported". */
export const kernelOf = (module: WebAssembly.Module, wanted?: Variant): Kernel => {
  const description = describe(module);
  const { variant } = description;
  if (wanted && variant !== wanted) fail("unsupported", "variant", wanted, variant);
  return {
    description,
    variant,
    module,
    create: (options) => createInstance(module, description, options),
    async warmUp(options) {
      const { warmUp } = await import("./warm-up.js").catch((cause) => failFor("network", cause));
      return warmUp(module, description, options);
    },
  };
};
