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

/** The shipped attentions, as attention_${model}_${heads}, of so many tokens at most. */
export const attentions: readonly string[] = ["64_4", "128_4", "256_8", "384_12", "512_8", "768_12"].map(
  (sizes) => `attention_${sizes}`,
);
export const mostTokens = 512;
const names = [...attentions, "minilm", "date_reader"];

/** Where the module of a shipped kernel is; undefined where none is that. */
export const placeOf = (wanted: string | Wanted, variant: Variant): URL | undefined => {
  const name = typeof wanted === "string" ? wanted : `${wanted?.kind}_${wanted?.model}_${wanted?.heads}`;
  if (!names.includes(name) || (wanted as Wanted)?.tokens > mostTokens) return undefined;
  return new URL(`./modules/${name}.${variant}.wasm`, import.meta.url); // bundlers look for URLs of this very form
};
