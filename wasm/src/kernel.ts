import { count } from "./check.js";
import { describe } from "./description.js";
import { loaded } from "./errors.js";
import { instanceOf } from "./instance.js";
import type { Kernel } from "./types.js";
import type { Variant } from "./variants.js";

/**
 * The kernels that index.js knows by itself, by all that their modules say, in the section's order: of this version (abi),
 * attention to x, 9 sizes, masks, PyTorch's layout, no cache, tensors, options. Any other takes more, and so does a
 * description that lacks something.
 */
const usual =
  /^1,.*,attention,(\d+,){9}false,(causal,|padding,|,)+\w+,in_proj,\d+,0,([a-z_]+,[\d,]+)+[a-z,]*keys,(offset,|padding,)*attention,/;

/** The kernel that a module is. Of one that is too small for what was wanted load-again.js tells more. */
export const kernelOf = async (module: WebAssembly.Module, source: any, wanted?: Variant): Promise<Kernel> => {
  const description = describe(module);
  const { variant, queries } = description;
  const isUsual = (!wanted || variant === wanted) && usual.test(`${Object.values(description)}`);
  const others = isUsual ? undefined : await loaded(import("./other-kernels.js"));
  others?.check(description, wanted);
  if (source.kind) count("tokens", source.tokens, queries, 1);
  return {
    description,
    variant,
    module,
    create: (options) => instanceOf(module, description, options, others),
    warmUp: async (options) => (await loaded(import("./warm-up.js"))).warmUp(module, description, options),
  };
};
