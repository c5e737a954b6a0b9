import { describe } from "./description.js";
import { instanceOf } from "./instance.js";
import { failRead } from "./open.js";
import type { Kernel } from "./types.js";

export const kernelOf = (module: WebAssembly.Module): Kernel => {
  const description = describe(module);
  return {
    description,
    variant: description.variant,
    module,
    create: (options) => instanceOf(module, description, options),
    async warmUp(options) {
      const { warmUp } = await import("./warm-up.js").catch((cause) => failRead("warm-up.js", cause));
      return warmUp(module, description, options);
    },
  };
};
