import type { Description } from "./description.js";
import { LadonError } from "./errors.js";
import { type Live, liveOf } from "./live.js";
import { runnerOf } from "./runner.js";
import { storeOf } from "./store.js";
import type { CreateOptions, Instance } from "./types.js";

/** `zeros`: with weights that are all zero, for warming up. */
export const instanceOf = (
  module: WebAssembly.Module,
  description: Description,
  options?: CreateOptions,
  zeros?: boolean,
): Instance => {
  let live: Live | undefined = liveOf(module, description);
  const closed = (): LadonError => new LadonError("closed", "this instance was freed");
  const alive = (): Live => {
    if (!live) throw closed();
    return live;
  };
  const { run, attention, clear, cached } = runnerOf(description, alive, options?.mask);
  const store = storeOf(description, alive, clear);
  clear();
  if (zeros) store.zero();
  const free = (): void => {
    store.stop(closed());
    live = undefined;
  };
  const instance = {
    description,
    weights: store.weights,
    run(x, runOptions) {
      alive();
      store.checkIdle();
      return run(store.at(), x, runOptions);
    },
    attention,
    clear,
    get cached() {
      return cached();
    },
    free,
  } as Instance;
  // Node 18 has no such symbol.
  if (Symbol.dispose) instance[Symbol.dispose] = free;
  return instance;
};
