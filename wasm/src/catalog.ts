import { fail } from "./errors.js";
import type { Variant } from "./variants.js";

/** The kernels that the package ships; wasm/README.md says what each is. */
export type ShippedName =
  | "attention_64_4"
  | "attention_128_4"
  | "attention_256_8"
  | "attention_384_12"
  | "attention_512_8"
  | "attention_768_12"
  | "minilm"
  | "date_reader";

/** What a kernel is to do; lengths in tokens. */
export interface Wanted {
  readonly kind: "attention";
  /** Most tokens of a run. */
  readonly tokens: number;
  /** Width of a token. */
  readonly model: number;
  readonly heads: number;
}

const attentions = ["64_4", "128_4", "256_8", "384_12", "512_8", "768_12"].map((sizes) => `attention_${sizes}`);
const names = [...attentions, "minilm", "date_reader"];

/** Most tokens of every shipped attention. */
const mostTokens = 512;

/** Where the module of a shipped kernel is; a LadonError where the name is none. */
export const placeOf = (name: string, variant: Variant): URL => {
  if (!names.includes(name)) fail("unknown-kernel", "kernel", names, name);
  return new URL(`./modules/${name}.${variant}.wasm`, import.meta.url); // bundlers look for URLs of this very form
};

/** The shipped kernel that does what is wanted; a LadonError names the nearest and how to build another. */
export const nameOf = ({ kind, tokens, model, heads }: Wanted): string => {
  const name = `${kind}_${model}_${heads}`;
  if (attentions.includes(name) && tokens <= mostTokens) return name;
  const distance = (other: string): number => {
    const [, width, count] = other.split("_") as unknown as number[];
    return Math.abs(Math.log(width! / model)) + Math.abs(Math.log(count! / heads));
  };
  return fail(
    "unknown-kernel",
    `${tokens} tokens: CMake's ladon_add_kernel(${name} QUERIES ${tokens} MODEL ${model} HEADS ${heads} MASK causal ` +
      `padding OFFSET run_time) under emcmake builds it; shipped, of ${mostTokens} tokens`,
    attentions.sort((a, b) => distance(a) - distance(b)).slice(0, 2),
    name,
  );
};
