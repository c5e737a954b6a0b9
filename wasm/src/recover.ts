// What load() does where the short way failed: reads what fetch or streaming does not (file: URLs in Node, a server
// that does not know WebAssembly's MIME type), or tells what was wrong. A file of its own in the package.
import { attentions, mostTokens, type Wanted } from "./catalog.js";
import { fail } from "./errors.js";
import { failRead, open } from "./open.js";
import { supports, type Variant, variants } from "./variants.js";

/** A module that is fetched once more, now as bytes. */
export const recoverUrl = async (url: string | URL, signal?: AbortSignal): Promise<WebAssembly.Module> => {
  const response = await open(url, signal);
  const bytes = await response.arrayBuffer().catch((cause) => failRead(`${url}`, cause, signal));
  return WebAssembly.compile(bytes).catch((cause) => explainModule(bytes, cause));
};

/** No shipped kernel is `wanted`: names the nearest, and what builds another. */
export const explainKernel = (wanted: string | Wanted): never => {
  const what = "shipped kernel";
  if (typeof wanted !== "object") return fail("unknown-kernel", what, [...attentions, "minilm", "date_reader"], wanted);
  const { kind, tokens, model, heads } = wanted ?? {};
  const distance = (other: string): number => {
    const [, width, count] = other.split("_") as unknown as number[];
    return Math.abs(Math.log(width! / model)) + Math.abs(Math.log(count! / heads));
  };
  const nearest = [...attentions].sort((a, b) => distance(a) - distance(b)).slice(0, 2);
  const name = `${kind}_${model}_${heads}`;
  const sizes = `QUERIES ${tokens} MODEL ${model} HEADS ${heads}`;
  const call = `ladon_add_kernel(${name} ${sizes} MASK causal padding OFFSET run_time)`;
  return fail(
    "unknown-kernel",
    `${what} of kind "attention" and at most ${mostTokens} tokens (for another put ${call} into CMakeLists.txt, ` +
      `then emcmake cmake -B build && cmake --build build; nearest are these)`,
    nearest,
    `${name} of ${tokens} tokens`,
  );
};

/** The engine does not compile the bytes: they are for another engine, or no module. */
export const explainModule = (bytes: BufferSource, cause: unknown): never => {
  const text = new TextDecoder("latin1").decode(bytes);
  const [, variant] = /"ladon": ?\d.*?"variant": ?"(\w+)"/.exec(text) ?? [];
  if (variant && !supports(variant as Variant)) {
    return fail("unsupported", "variant of the module", variants.filter(supports), variant, cause);
  }
  return fail("not-a-module", "bytes", "WebAssembly", cause, cause);
};
