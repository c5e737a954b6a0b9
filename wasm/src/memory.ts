import { fail } from "./errors.js";

/** A piece of a module's memory: where it begins, and its bytes. */
export interface Block {
  readonly at: number;
  readonly bytes: number;
}

/** Gives out pieces of a module's memory, aligned to 64 bytes, and grows it where there is no room. */
export interface Memory {
  take(bytes: number): Block;
  give(block: Block | undefined): void;
}

const page = 65536;

export const memoryOf = (memory: WebAssembly.Memory, base: number): Memory => {
  const free: Block[] = [];
  let top = base;
  return {
    take(bytes) {
      const i = free.findIndex((block) => block.bytes >= bytes);
      if (i >= 0) return free.splice(i, 1)[0]!;
      const at = Math.ceil(top / 64) * 64;
      const lacking = at + bytes - memory.buffer.byteLength;
      if (lacking > 0) {
        try {
          memory.grow(Math.ceil(lacking / page));
        } catch (cause) {
          fail("memory", "WebAssembly memory", `${bytes} bytes more`, "none", cause);
        }
      }
      top = at + bytes;
      return { at, bytes };
    },
    give(block) {
      if (block) free.push(block);
    },
  };
};
