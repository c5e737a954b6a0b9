// What was wrong with a call of load(). A file of its own in the package, loaded when something was.
import type { attentions, mostTokens, Wanted } from "./catalog.js";
import type { fail } from "./errors.js";
import type { supports, Variant, variants } from "./variants.js";

/** What this file borrows from index.js, so that it imports nothing. */
export interface Told {
  readonly fail: typeof fail;
  readonly attentions: typeof attentions;
  readonly mostTokens: typeof mostTokens;
  readonly supports: typeof supports;
  readonly variants: typeof variants;
}

/** No shipped kernel is `wanted`: names the nearest, and what builds another. */
export const explainKernel = ({ fail, attentions, mostTokens }: Told, wanted: string | Wanted): never => {
  const what = "shipped kernel";
  if (typeof wanted !== "object") return fail("unknown-kernel", what, [...attentions, "minilm", "date_reader"], wanted);
  const { kind, tokens, model, heads } = wanted ?? {};
  const distance = (other: string): number => {
    const [, width, count] = other.split("_") as unknown as number[];
    return Math.abs(Math.log(width! / model)) + Math.abs(Math.log(count! / heads));
  };
  const nearest = [...attentions].sort((a, b) => distance(a) - distance(b)).slice(0, 2);
  const name = `${kind}_${model}_${heads}`;
  const call = `ladon_add_kernel(${name} QUERIES ${tokens} MODEL ${model} HEADS ${heads} MASK causal padding OFFSET run_time)`;
  return fail(
    "unknown-kernel",
    `${what} of kind "attention" and at most ${mostTokens} tokens (to build another, put ${call} into a CMakeLists.txt, ` +
      `then emcmake cmake -B build && cmake --build build; nearest are these)`,
    nearest,
    `${name} of ${tokens} tokens`,
  );
};

/** The engine does not compile the bytes: they are for another engine, or no module. */
export const explainModule = ({ fail, supports, variants }: Told, bytes: BufferSource, cause: unknown): never => {
  const text = new TextDecoder("latin1").decode(bytes);
  const [, variant] = /"ladon": ?\d.*?"variant": ?"(\w+)"/.exec(text) ?? [];
  if (variant && !supports(variant as Variant)) {
    return fail("unsupported", "variant of the module", variants.filter(supports), variant, cause);
  }
  return fail("not-a-module", "bytes", "WebAssembly", cause, cause);
};
