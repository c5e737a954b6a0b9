import { describe } from "./description.js";
import { instanceOf } from "./instance.js";
import type { Kernel } from "./types.js";

/** What index.js knows of by itself; another kernel takes more. */
const usual = /^attention,in_proj(,(tokens|queries|keys|offset|padding|attention))*$/;

export const kernelOf = async (module: WebAssembly.Module): Promise<Kernel> => {
  const description = describe(module);
  const { kind, variant, options, layout, context, cache } = description;
  const more = context || cache || !usual.test(`${[kind, layout, ...options]}`) ? await import("./more.js") : undefined;
  return {
    description,
    variant,
    module,
    create: (createOptions) => instanceOf(module, description, createOptions, more),
    async warmUp(warmUpOptions) {
      const { warmUp } = await import("./warm-up.js");
      return warmUp(module, description, warmUpOptions);
    },
  };
};
