// SPDX-License-Identifier: Apache-2.0
import type { Precision } from "./description.js";
import { fail } from "./fail.js";
import { entriesOfModels, int8Names, type ShippedAttention, shippedAttentions, type ShippedName } from "./generated/shipped-kernels.js";

export type { ShippedName } from "./generated/shipped-kernels.js";

/** The sizes that a caller asks for. `load` chooses a shipped kernel for these sizes. */
export interface Wanted {
  readonly kind: "attention";
  /** The number of tokens that the kernel must have room for. `load` may choose a kernel with room for more tokens. */
  readonly tokens: number;
  /** The width of a token. */
  readonly model: number;
  readonly heads: number;
}

const checkSizes = ({ kind, tokens, model, heads }: Wanted): void => {
  if (kind !== "attention") fail("unknown-kernel", "kind of a shipped kernel", "attention", kind);
  for (const [name, size] of Object.entries({ tokens, model, heads })) {
    if (!(Number.isSafeInteger(size) && size > 0)) fail("option", name, "a whole number from 1", size);
  }
  if (model % heads) fail("option", "model", `a multiple of heads, ${heads}`, model);
};

/**
 * Throws "unknown-kernel". The message names the two shipped kernels of the most similar sizes, and the
 * ladon_add_kernel call that builds the wanted kernel.
 */
const failUnknown = (
  { kind, tokens, model, heads }: Wanted,
  shipped: readonly ShippedAttention[],
  precision: Precision,
): never => {
  const distance = (one: ShippedAttention): number =>
    Math.abs(Math.log(one.model / model)) + Math.abs(Math.log(one.heads / heads));
  const nearest = [...shipped].sort((a, b) => distance(a) - distance(b)).slice(0, 2);
  const most = Math.max(0, ...shipped.map((one) => one.tokens));
  const name = `${kind}_${model}_${heads}`;
  const sizes = `QUERIES ${tokens} MODEL ${model} HEADS ${heads}`;
  const suffix = precision === "float32" ? "" : ` PRECISION ${precision}`;
  const call = `ladon_add_kernel(${name} ${sizes} MASK causal padding OFFSET run_time${suffix})`;
  return fail(
    "unknown-kernel",
    `shipped attention of at most ${most} tokens (others: ${call}, emcmake cmake -B build && cmake --build build)`,
    nearest.map((one) => one.name),
    `${name} of ${tokens} tokens`,
  );
};

/**
 * Returns the name of the shipped attention with the wanted name or sizes. Throws "unknown-kernel" or "option" if no
 * shipped attention has them.
 */
const shippedNameOf = (wanted: string | Wanted, precision: Precision): ShippedName => {
  const isShipped = ({ name }: ShippedAttention): boolean =>
    precision === "int8" ? int8Names.includes(name) : precision === "float32";
  const shipped = shippedAttentions.filter(isShipped);
  if (typeof wanted === "string") {
    const entry = Object.hasOwn(entriesOfModels, wanted) && entriesOfModels[wanted];
    if (entry) fail("unknown-kernel", "kernel of a model", `loadKernel() of "${entry}"`, wanted);
    const what = precision === "float32" ? "shipped kernel" : `kernel shipped in ${precision}`;
    const names = shipped.map(({ name }) => name);
    return names.find((name) => name === wanted) ?? fail("unknown-kernel", what, names, wanted);
  }
  checkSizes(wanted);
  const { tokens, model, heads } = wanted;
  const fits = (one: ShippedAttention): boolean => one.model === model && one.heads === heads && one.tokens >= tokens;
  return shipped.find(fits)?.name ?? failUnknown(wanted, shipped, precision);
};

/**
 * Returns the name of the module of a shipped attention without "attention_" and the variant, such as "384_12_int8".
 * Throws "unknown-kernel" or "option" if no shipped attention has the wanted name or sizes.
 */
export const moduleSuffixOf = (wanted: string | Wanted, precision: Precision): string =>
  shippedNameOf(wanted, precision).slice("attention_".length) + (precision === "int8" ? "_int8" : "");
