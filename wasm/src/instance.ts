// SPDX-License-Identifier: Apache-2.0
import type { Activations } from "./activations.js";
import { checkOptions } from "./check.js";
import type { Description } from "./description.js";
import type { WeightType } from "./element-types.js";
import { fail, failFor } from "./fail.js";
import { chooseMask } from "./mask-choice.js";
import { ModuleMemory } from "./memory.js";
import type * as PositionTables from "./position-tables.js";
import { Runner } from "./runner.js";
import type { CreateOptions, Instance } from "./types.js";
import { WeightStore } from "./weight-store.js";

/** The two objects that implement an instance. After `Instance.free`, the instance no longer holds them. */
interface Parts {
  readonly runner: Runner;
  readonly store: WeightStore;
}

export const createInstance = (
  module: WebAssembly.Module,
  description: Description,
  activations: Activations | undefined,
  tables: typeof PositionTables | undefined,
  options: CreateOptions = {},
): Instance => {
  checkOptions(options, ["mask"]);
  const mask = chooseMask(description, options.mask);
  const memory = new ModuleMemory(module, activations);
  const runner = new Runner(memory, description, mask, tables);
  // The caches hold keys and values that the old weights computed.
  const store = new WeightStore(memory, description, () => runner.forget());
  return instanceOf(description, { runner, store });
};

const instanceOf = (description: Description, created: Parts): Instance => {
  let parts: Parts | undefined = created;
  let loading: AbortController | undefined;
  const alive = (): Parts => parts ?? fail("closed", "the instance was freed");
  const idle = (): Parts => (loading ? fail("busy", "weights.load is running") : alive());
  const free = (): void => {
    parts = undefined;
    loading?.abort();
  };
  return {
    description,
    weights: {
      set(tensors, options = {}) {
        checkOptions(options, ["prefix"]);
        idle().store.set(tensors, options.prefix);
      },
      async load(source, options = {}) {
        idle();
        const stop = (loading = new AbortController());
        try {
          const { loadFile } = await import("./safetensors.js").catch((cause) => failFor("network", cause));
          await loadFile({ stop, store: () => alive().store }, source, options);
        } finally {
          loading = undefined;
        }
      },
      tensor: (name: string, type?: WeightType): any => alive().store.tensor(name, type),
    },
    run(x, options) {
      const { runner, store } = idle();
      return runner.run(store.at, x, options);
    },
    relativeTable: (bias, options) => idle().runner.relativeTable(bias, options),
    attention: (layer) => alive().runner.attention(layer),
    memoryAttention: (layer) => alive().runner.attention(layer, "memory.attention"),
    clear: () => idle().runner.clear(),
    get cached() {
      return alive().runner.cached;
    },
    free,
    [Symbol.dispose ?? "dispose"]: free, // some engines have no Symbol.dispose
  } as Instance;
};
