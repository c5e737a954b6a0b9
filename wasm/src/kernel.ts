import { abi, describe } from "./description.js";
import { loaded } from "./errors.js";
import { instanceOf } from "./instance.js";
import type { Kernel } from "./types.js";
import type { Variant } from "./variants.js";

/** What index.js knows of by itself. Another kernel takes more, and so does a description that lacks something. */
const usual =
  /^(\d+,){6}attention,in_proj,false,0(,\w+(weight|bias)(,\d+)+)+(,(tokens|queries|keys|offset|padding|attention))*$/;

/** The kernel that a module is; where it is not what was wanted, load-again.js says so. */
export const kernelOf = async (module: WebAssembly.Module, source: any, wanted?: Variant): Promise<Kernel> => {
  const description = describe(module);
  const { ladon, kind, variant, workspace, queries, keys, model, heads, mask, layout, context, cache } = description;
  const { tokens } = source;
  const fits = !source.kind || (tokens > 0 && tokens <= queries && Number.isInteger(tokens));
  if (ladon !== abi || (wanted && variant !== wanted) || !fits) {
    (await loaded(import("./load-again.js"))).refuse(description, source, wanted);
  }
  const sizes = [workspace, queries, keys, model, heads, mask?.length];
  const asked = `${[sizes, kind, layout, context, cache, description.weights, description.options]}`;
  const others = usual.test(asked) ? undefined : await loaded(import("./other-kernels.js"));
  others?.checkDescription(description);
  return {
    description,
    variant,
    module,
    create: (createOptions) => instanceOf(module, description, createOptions, others),
    warmUp: async (warmUpOptions) => (await loaded(import("./warm-up.js"))).warmUp(module, description, warmUpOptions),
  };
};
