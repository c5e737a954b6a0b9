import { abi, describe } from "./description.js";
import { instanceOf } from "./instance.js";
import type { Kernel } from "./types.js";
import type { Variant } from "./variants.js";

/** What index.js knows of by itself; another kernel takes more. */
const usual = /^attention,in_proj,false,0(,(tokens|queries|keys|offset|padding|attention))*$/;

/** The kernel that a module is; where it is not what was wanted, load-again.js says so. */
export const kernelOf = async (module: WebAssembly.Module, source: any, wanted?: Variant): Promise<Kernel> => {
  const description = describe(module);
  const { ladon, kind, variant, queries, options, layout, context, cache } = description;
  if (ladon !== abi || (wanted && variant !== wanted) || source.tokens > queries) {
    (await import("./load-again.js")).refuse(description, source, wanted);
  }
  const asked = `${[kind, layout, context, cache, ...options]}`;
  const more = usual.test(asked) ? undefined : await import("./other-kernels.js");
  return {
    description,
    variant,
    module,
    create: (createOptions) => instanceOf(module, description, createOptions, more),
    warmUp: async (warmUpOptions) => (await import("./warm-up.js")).warmUp(module, description, warmUpOptions),
  };
};
