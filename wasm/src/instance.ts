import type { Description } from "./description.js";
import { fail, LadonError } from "./errors.js";
import { type Block, type Live, liveOf } from "./memory.js";
import type { More } from "./more.js";
import { runnerOf } from "./runner.js";
import type { CreateOptions, Instance } from "./types.js";
import { checkFloats, findTensors, type Tensor, type Tensors, usualNaming } from "./weights.js";

export const instanceOf = (
  module: WebAssembly.Module,
  description: Description,
  options: CreateOptions = {},
  more?: More,
): Instance => {
  let live: Live | undefined = liveOf(module);
  let loading: AbortController | undefined;
  let block: Block | undefined; // the tensors, then the C struct that points to them
  let weightsAt = 0;
  let tensors: Tensors = new Map();

  const closed = (): LadonError => new LadonError("closed", "this instance was freed");
  const alive = (): Live => {
    if (!live) throw closed();
    return live;
  };
  const idle = (): Live => (loading ? fail("busy", "weights.load is under way") : alive());
  const { run, attention, inputs } = runnerOf(description, alive, options.mask, more);
  const naming = (more?.namingOf ?? usualNaming)(description);
  const findAll = (found: Tensors, prefix?: string, all?: boolean): number[] => findTensors(naming, found, prefix, all);

  /** Room for tensors and the pointers to them; what there was before stays until the new ones are adopted. */
  const room = (bytes: number, offsets: number[]): Block => alive().take(bytes + 4 * offsets.length);
  const adopt = (found: Tensors, bytes: number, next: Block, offsets: number[]): void => {
    const { exports, give } = alive();
    weightsAt = next.at + bytes;
    new Uint32Array(exports.memory.buffer, weightsAt).set(offsets.map((offset) => next.at + offset));
    give(block);
    block = next;
    tensors = found;
    inputs?.clear(); // what a cache holds came of other weights
  };
  const free = (): void => {
    loading?.abort(closed());
    live = undefined;
  };

  return {
    description,
    weights: {
      set(given, { prefix } = {}) {
        const { exports, floats } = idle();
        const found = new Map<string, Tensor>();
        let bytes = 0;
        for (const [name, data] of Object.entries(given)) {
          if (!(data instanceof Float32Array)) fail("weights", name, "a Float32Array", data);
          found.set(name, { begin: bytes, length: data.length });
          bytes += data.byteLength;
        }
        const offsets = findAll(found, prefix, true);
        // Views of this memory end where it grows.
        const sources = Object.values(given).map((data) =>
          data.buffer === exports.memory.buffer ? data.slice() : data,
        );
        const next = room(bytes, offsets);
        let { at } = next;
        for (const source of sources) {
          floats(at, source.length).set(source);
          at += source.byteLength;
        }
        adopt(found, bytes, next, offsets);
      },
      async load(source, loadOptions = {}) {
        const { give } = idle();
        const stop = (loading = new AbortController());
        const tools = { stop, alive, room, adopt, give, findAll };
        try {
          // On demand: who has the weights in arrays needs none of it.
          const { loadFile } = await import("./files.js");
          await loadFile(tools, source, loadOptions);
        } finally {
          loading = undefined;
        }
      },
      tensor(name) {
        const { floats } = alive();
        const found = tensors.get(name) ?? fail("weights", "tensor", [...tensors.keys()], name);
        checkFloats(name, found);
        return floats(block!.at + found.begin, found.length);
      },
    },
    run(x, runOptions) {
      idle();
      return run(weightsAt || fail("weights", "this instance has no weights yet"), x, runOptions);
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
    [Symbol.dispose ?? "dispose"]: free, // Node 18 has no such symbol
  } as Instance;
};
