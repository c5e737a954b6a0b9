import { checkOptions } from "./check.js";
import type { Description } from "./description.js";
import { fail, loaded } from "./errors.js";
import { type Block, type Live, liveOf } from "./memory.js";
import type { OtherKernels } from "./other-kernels.js";
import { runnerOf } from "./runner.js";
import type { CreateOptions, Instance } from "./types.js";
import { finderOf, type Tensor, type Tensors, usualNaming } from "./weights.js";

export const instanceOf = (
  module: WebAssembly.Module,
  description: Description,
  options: CreateOptions = {},
  others?: OtherKernels,
): Instance => {
  checkOptions(options, ["mask"]);
  let live: Live | undefined = liveOf(module);
  let loading: AbortController | undefined;
  let block: Block | undefined; // the C struct that points to the tensors, then these
  let tensorsAt = 0;
  let tensors: Tensors = new Map();

  const alive = (): Live => live ?? fail("closed", "the instance was freed");
  const idle = (): Live => (loading ? fail("busy", "weights.load is under way") : alive());
  const { run, attention, inputs } = runnerOf(description, alive, options.mask, others);
  const find = finderOf((others?.namingOf ?? usualNaming)(description));

  /** Makes tensors the weights that are in a block behind room for a pointer of each offset. */
  const adopt = (found: Tensors, offsets: number[], next: Block): void => {
    const { give, put } = alive();
    tensorsAt = next.at + 4 * offsets.length;
    put(
      next.at,
      offsets.map((offset) => tensorsAt + offset),
      Uint32Array,
    );
    give(block);
    block = next;
    tensors = found;
    inputs?.clear(); // what a cache holds came of other weights
  };
  const free = (): void => {
    live = undefined;
    loading?.abort();
  };

  return {
    description,
    weights: {
      set(given, setOptions = {}) {
        checkOptions(setOptions, ["prefix"]);
        const { exports, put, take } = idle();
        const found = new Map<string, Tensor>();
        let bytes = 0;
        const sources = Object.entries(given ?? {}).map(([name, data]) => {
          if (!(data instanceof Float32Array)) fail("weights", name, "a Float32Array", data);
          found.set(name, { begin: bytes, length: data.length });
          bytes += data.byteLength;
          // Views of this memory end where it grows.
          return data.buffer === exports.memory.buffer ? data.slice() : data;
        });
        const offsets = find(found, setOptions.prefix);
        adopt(found, offsets, take(4 * offsets.length + bytes));
        let at = tensorsAt;
        for (const source of sources) {
          put(at, source);
          at += source.byteLength;
        }
      },
      async load(source, loadOptions = {}) {
        idle();
        loading = new AbortController();
        try {
          // On demand: who has the weights in arrays needs none of it.
          const { loadFile } = await loaded(import("./safetensors.js"));
          await loadFile({ stop: loading, alive, find, adopt }, source, loadOptions);
        } finally {
          loading = undefined;
        }
      },
      tensor(name) {
        const { floats } = alive();
        const found = tensors.get(name) ?? fail("weights", "tensor", [...tensors.keys()], name);
        found.refuse?.();
        return floats(tensorsAt + found.begin, found.length);
      },
    },
    run(x, runOptions) {
      idle();
      return run((block ?? fail("weights", "no weights yet")).at, x, runOptions);
    },
    attention,
    clear() {
      idle();
      inputs?.clear();
    },
    get cached() {
      return inputs?.cached() ?? 0;
    },
    free,
    [Symbol.dispose ?? "dispose"]: free, // which not every engine has
  } as Instance;
};
