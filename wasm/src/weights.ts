import type { Description } from "./description.js";
import { fail } from "./errors.js";

/** A tensor in a block of memory, whatever it came from. */
export interface Tensor {
  /** Bytes from the block's begin. */
  readonly begin: number;
  /** In numbers. */
  readonly length: number;
  /** Undefined: only the length is known. */
  readonly shape?: readonly number[];
  /** Throws what it is, where that cannot be read as floats where it lies. */
  readonly refuse?: () => never;
}

export type Tensors = ReadonlyMap<string, Tensor>;

/** What a checkpoint calls a tensor, below a prefix, as the kernel's C members have it. */
export type Spell = (name: string, prefix: string) => string;

/** Tensors by the member that they are for, each with the name that it came by. */
export type Members = Map<string, readonly [name: string, Tensor]>;

/** A member of the C struct, with its pointers: one, or one a head to equal parts. */
export type Slot = readonly [member: string, shape: readonly number[], pointers: number];

/** What a kernel's layout and its layers have to do with names. */
export interface Naming {
  readonly layout: string;
  readonly slots: readonly Slot[];
  readonly spell: Spell;
  /** Finds members in parts of other tensors. */
  splitPacked?(members: Members): void;
}

/** Of an attention with PyTorch's tensors. */
export const usualNaming = ({ layout, weights }: Description): Naming => ({
  layout,
  slots: weights.map(([member, ...shape]) => [member, shape, 1]),
  spell: (name) => name.replace(".", "_"),
});

/**
 * Where each pointer of the C function's weights points, in bytes from the begin of the tensors' block. A LadonError
 * says what is missing, and what the kernel has no place for: every other tensor below the prefix, or where `ours` is
 * given only those whose members it matches.
 */
export type FindTensors = (tensors: Tensors, prefix?: string, ours?: RegExp) => number[];

export const finderOf =
  ({ layout, slots, spell, splitPacked }: Naming): FindTensors =>
  (tensors, given = "", ours = /^/) => {
    const prefix = `${given}`.replace(/[^.]$/, "$&.");
    const members: Members = new Map();
    for (const [name, tensor] of tensors) {
      if (name.startsWith(prefix)) members.set(spell(name.slice(prefix.length), prefix), [name, tensor]);
    }
    splitPacked?.(members);
    const missing: string[] = [];
    const offsets: number[] = [];
    for (const [member, shape, pointers] of slots) {
      const [name, tensor] = members.get(member) ?? [];
      members.delete(member);
      if (!tensor) {
        missing.push(prefix + member);
        continue;
      }
      tensor.refuse?.();
      const length = shape.reduce((a, b) => a * b, 1);
      const [expected, actual] = tensor.shape ? [shape, tensor.shape] : [length, tensor.length];
      if (`${expected}` !== `${actual}`) fail("shape", `shape of ${name}`, expected, actual);
      for (let i = 0; i < pointers; ++i) offsets.push(tensor.begin + (4 * i * length) / pointers);
    }
    const others: string[] = [];
    for (const [member, [name]] of members) {
      if (missing[0] || ours.test(member)) others.push(name);
    }
    if (missing[0] || others[0]) {
      fail("weights", `tensors of LAYOUT ${layout}`, missing[0] ? missing : "no others", others);
    }
    return offsets;
  };
