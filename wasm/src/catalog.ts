// SPDX-License-Identifier: Apache-2.0
import { fail } from "./fail.js";
import { type ShippedAttention, shippedAttentions, type ShippedName, shippedNames } from "./generated/shipped-kernels.js";

export type { ShippedName } from "./generated/shipped-kernels.js";

/** The requirements of a kernel. */
export interface Wanted {
  readonly kind: "attention";
  /** The kernel has room for at least this number of tokens; `description.queries` is the number that it has room for. */
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

/** Names the two nearest of the shipped kernels, and the call that builds the wanted kernel. */
const failUnknown = ({ kind, tokens, model, heads }: Wanted): never => {
  const distance = (one: ShippedAttention): number =>
    Math.abs(Math.log(one.model / model)) + Math.abs(Math.log(one.heads / heads));
  const nearest = [...shippedAttentions].sort((a, b) => distance(a) - distance(b)).slice(0, 2);
  const most = Math.max(...shippedAttentions.map((one) => one.tokens));
  const name = `${kind}_${model}_${heads}`;
  const sizes = `QUERIES ${tokens} MODEL ${model} HEADS ${heads}`;
  const call = `ladon_add_kernel(${name} ${sizes} MASK causal padding OFFSET run_time)`;
  return fail(
    "unknown-kernel",
    `shipped attention of at most ${most} tokens (others: ${call}, emcmake cmake -B build && cmake --build build)`,
    nearest.map((one) => one.name),
    `${name} of ${tokens} tokens`,
  );
};

/** Returns the name of a shipped kernel. Throws "unknown-kernel" or "option" if there is none. */
export const shippedNameOf = (wanted: string | Wanted): ShippedName => {
  if (typeof wanted === "string") {
    return shippedNames.find((name) => name === wanted) ?? fail("unknown-kernel", "shipped kernel", shippedNames, wanted);
  }
  checkSizes(wanted);
  const { tokens, model, heads } = wanted;
  const fits = (one: ShippedAttention): boolean => one.model === model && one.heads === heads && one.tokens >= tokens;
  return shippedAttentions.find(fits)?.name ?? failUnknown(wanted);
};
