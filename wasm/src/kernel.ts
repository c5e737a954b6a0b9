import { describe } from "./description.js";
import { instanceOf } from "./instance.js";
import type { Kernel } from "./types.js";

export const kernelOf = (module: WebAssembly.Module): Kernel => {
  const description = describe(module);
  const { queries, model, keyModel, heads, context, options: members } = description;
  return {
    description,
    variant: description.variant,
    module,
    create: (options) => instanceOf(module, description, options),
    async warmUp({ tokens = 32, most = 2000, attention } = {}) {
      const now = (): number => performance.now();
      const instance = instanceOf(module, description, {}, true);
      const count = Math.min(tokens, queries);
      const x = new Float32Array(count * model);
      const options = {
        ...(context ? { queries: count, keys: count, context: new Float32Array(count * keyModel) } : { tokens: count }),
        ...(members.includes("sinks") && { sinks: new Float32Array(heads) }),
        attention,
      };
      const begin = now();
      let [calls, first, best, since] = [0, 0, Infinity, begin];
      do {
        // A slice of calls: long enough for coarse clocks, short enough for a page to stay alive.
        const start = now();
        let [own, took] = [0, 0];
        do {
          instance.clear();
          instance.run(x, options);
          ++own;
          took = now() - start;
          first ||= took;
        } while (took < 8);
        calls += own;
        if (took / own < 0.9 * best) since = now();
        best = Math.min(best, took / own);
        await new Promise((resolve) => setTimeout(resolve));
      } while (now() - since < 150 && now() - begin < most);
      instance.free();
      return { calls, total: now() - begin, first, best };
    },
  };
};
