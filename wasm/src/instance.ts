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
import type { Team, Threads } from "./team.js";
import type { CreateOptions, Instance, TeamInstance } from "./types.js";
import { WeightStore } from "./weight-store.js";

/** What the instances of a kernel share. `tables` is necessary for a rotary embedding and relative positions. */
export interface KernelParts {
  readonly module: WebAssembly.Module;
  readonly description: Description;
  readonly activations: Activations | undefined;
  readonly tables: typeof PositionTables | undefined;
}

/** The objects that implement an instance. After `Instance.free`, the instance no longer holds them. */
interface Parts {
  readonly runner: Runner;
  readonly store: WeightStore;
  readonly team: Team | undefined;
}

/** Returns an Instance, or with `threads` a TeamInstance. */
export const createInstance = (
  { module, description, activations, tables }: KernelParts,
  options: CreateOptions = {},
  threads?: Threads,
): Instance | TeamInstance => {
  checkOptions(options, ["mask"]);
  const mask = chooseMask(description, options.mask);
  const memory = new ModuleMemory(module, activations, threads?.memory());
  const runner = new Runner(memory, description, mask, tables, threads?.workspaceBytes(description));
  // The caches hold keys and values that the old weights computed.
  const store = new WeightStore(memory, description, () => runner.forget());
  const team = threads?.team(module, memory, description);
  return instanceOf(description, { runner, store, team }, Boolean(threads));
};

const instanceOf = (description: Description, created: Parts, isOfTeam: boolean): Instance | TeamInstance => {
  let parts: Parts | undefined = created;
  let loading: AbortController | undefined;
  let isRunning = false; // by a team
  const alive = (): Parts => parts ?? fail("closed", "the instance was freed");
  const settled = (): Parts => (isRunning ? fail("busy", "a run is in progress") : alive());
  const idle = (): Parts => (loading ? fail("busy", "weights.load is running") : settled());
  const run: Instance["run"] = (x, options) => {
    const { runner, store } = idle();
    return runner.run(store.at, x, options);
  };
  const runTogether: TeamInstance["run"] = async (x, options) => {
    const { team, runner, store } = idle();
    if (!team) return run(x, options);
    isRunning = true;
    try {
      return await runner.runTogether(team, store.at, x, { ...options });
    } finally {
      isRunning = false;
    }
  };
  const free = (): void => {
    parts?.team?.free();
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
    run: isOfTeam ? runTogether : run,
    relativeTable: (bias, options) => idle().runner.relativeTable(bias, options),
    attention: (layer) => settled().runner.attention(layer),
    memoryAttention: (layer) => settled().runner.attention(layer, "memory.attention"),
    clear: () => idle().runner.clear(),
    get cached() {
      return settled().runner.cached;
    },
    free,
    [Symbol.dispose ?? "dispose"]: free, // some engines have no Symbol.dispose
  } as Instance | TeamInstance;
};
