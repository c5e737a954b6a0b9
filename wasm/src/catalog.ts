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

// Written out, for bundlers look for URLs of this very form.
const places: Record<ShippedName, Record<Variant, URL>> = {
  attention_64_4: {
    relaxed: new URL("./modules/attention_64_4.relaxed.wasm", import.meta.url),
    simd: new URL("./modules/attention_64_4.simd.wasm", import.meta.url),
    scalar: new URL("./modules/attention_64_4.scalar.wasm", import.meta.url),
  },
  attention_128_4: {
    relaxed: new URL("./modules/attention_128_4.relaxed.wasm", import.meta.url),
    simd: new URL("./modules/attention_128_4.simd.wasm", import.meta.url),
    scalar: new URL("./modules/attention_128_4.scalar.wasm", import.meta.url),
  },
  attention_256_8: {
    relaxed: new URL("./modules/attention_256_8.relaxed.wasm", import.meta.url),
    simd: new URL("./modules/attention_256_8.simd.wasm", import.meta.url),
    scalar: new URL("./modules/attention_256_8.scalar.wasm", import.meta.url),
  },
  attention_384_12: {
    relaxed: new URL("./modules/attention_384_12.relaxed.wasm", import.meta.url),
    simd: new URL("./modules/attention_384_12.simd.wasm", import.meta.url),
    scalar: new URL("./modules/attention_384_12.scalar.wasm", import.meta.url),
  },
  attention_512_8: {
    relaxed: new URL("./modules/attention_512_8.relaxed.wasm", import.meta.url),
    simd: new URL("./modules/attention_512_8.simd.wasm", import.meta.url),
    scalar: new URL("./modules/attention_512_8.scalar.wasm", import.meta.url),
  },
  attention_768_12: {
    relaxed: new URL("./modules/attention_768_12.relaxed.wasm", import.meta.url),
    simd: new URL("./modules/attention_768_12.simd.wasm", import.meta.url),
    scalar: new URL("./modules/attention_768_12.scalar.wasm", import.meta.url),
  },
  minilm: {
    relaxed: new URL("./modules/minilm.relaxed.wasm", import.meta.url),
    simd: new URL("./modules/minilm.simd.wasm", import.meta.url),
    scalar: new URL("./modules/minilm.scalar.wasm", import.meta.url),
  },
  date_reader: {
    relaxed: new URL("./modules/date_reader.relaxed.wasm", import.meta.url),
    simd: new URL("./modules/date_reader.simd.wasm", import.meta.url),
    scalar: new URL("./modules/date_reader.scalar.wasm", import.meta.url),
  },
};

const names = Object.keys(places);

/** Most tokens of every shipped attention. */
const mostTokens = 512;

/** Where the module of a shipped kernel is; a LadonError where the name is none. */
export const placeOf = (name: string, variant: Variant): URL =>
  names.includes(name) ? places[name as ShippedName][variant] : fail("unknown-kernel", "kernel", names, name);

/** The shipped kernel that does what is wanted; a LadonError names the nearest and how to build another. */
export const nameOf = ({ kind, tokens, model, heads }: Wanted): string => {
  const name = `${kind}_${model}_${heads}`;
  if (names.includes(name) && tokens <= mostTokens) return name;
  const far = (other: string): number => {
    const [, width, count] = other.split("_").map(Number);
    return Math.abs(Math.log(width! / model)) + Math.abs(Math.log(count! / heads));
  };
  const nearest = names.filter((one) => one.startsWith("attention_")).sort((a, b) => far(a) - far(b));
  return fail(
    "unknown-kernel",
    `${kind} of ${tokens} tokens, model ${model}, heads ${heads} is not shipped; ladon_add_kernel(${name} QUERIES ` +
      `${tokens} MODEL ${model} HEADS ${heads} MASK causal padding OFFSET run_time) in a CMakeLists.txt and emcmake ` +
      `cmake -B build && cmake --build build make it. Nearest (model, heads; ${mostTokens} tokens)`,
    nearest.slice(0, 2),
    name,
  );
};
