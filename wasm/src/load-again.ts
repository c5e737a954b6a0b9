// What load() does where the short way failed: reads what fetch or streaming does not (file: URLs in Node, a server
// that does not know WebAssembly's MIME type), or tells what was wrong. A file of its own in the package.
import { isUrl, nameOf, type Wanted } from "./catalog.js";
import { checkSignal } from "./check.js";
import { fail, LadonError } from "./errors.js";
import { failRead, open, unshared } from "./fetch-or-read.js";
import { load } from "./index.js";
import type { LoadOptions } from "./load.js";
import type { Kernel } from "./types.js";
import { supports, type Variant, variants } from "./variants.js";

/** The shipped attentions, as attention_${model}_${heads}, of so many tokens at most. */
const attentions: readonly string[] = ["64_4", "128_4", "256_8", "384_12", "512_8", "768_12"].map(
  (sizes) => `attention_${sizes}`,
);
const mostTokens = 512;
const names: readonly string[] = [...attentions, "minilm", "date_reader"];

const isSize = (size: unknown): boolean => Number.isSafeInteger(size) && (size as number) > 0;

const isShipped = (wanted: any): boolean =>
  names.includes(nameOf(wanted)) && (!wanted.kind || (isSize(wanted.tokens) && wanted.tokens <= mostTokens));

/** No shipped kernel is `wanted`: names the nearest, and what builds another. */
const explainKernel = (wanted: string | Wanted): never => {
  const what = "shipped kernel";
  if (Object(wanted) !== wanted) return fail("unknown-kernel", what, names, wanted);
  const { kind, tokens, model, heads } = wanted as Wanted;
  if (kind !== "attention") fail("unknown-kernel", "kind of a shipped kernel", "attention", kind);
  for (const [name, size] of Object.entries({ tokens, model, heads })) {
    if (!isSize(size)) fail("option", name, "a whole number from 1", size);
  }
  if (model % heads) fail("option", "model", `a multiple of heads, ${heads}`, model);
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
    `${what} of kind "attention" and at most ${mostTokens} tokens (for another put ${call} into a CMakeLists.txt ` +
      `as "Other shapes" in the package's README has it, then emcmake cmake -B build && cmake --build build; nearest are ` +
      `these)`,
    nearest,
    `${name} of ${tokens} tokens`,
  );
};

/** The engine does not compile the bytes: they are for another engine, or no module. */
const explainModule = (bytes: BufferSource, cause: unknown, place: string | URL = "bytes"): never => {
  const text = new TextDecoder("latin1").decode(bytes);
  const [, variant] = /"ladon": ?\d.*?"variant": ?"(\w+)"/.exec(text) ?? [];
  if (variant && !supports(variant as Variant)) {
    return fail("unsupported", "variant of the module", variants.filter(supports), variant, cause);
  }
  const begin = /^[\t\n\r -~]{8}/.exec(text);
  return fail("not-a-module", `${place}`, "WebAssembly", begin ? `text that begins with "${begin}"` : cause, cause);
};

/** That a source is one, which is no array of bytes and no module; what it is where people take another for one. */
const checkKernelSource = (source: any): void => {
  if (/string|undefined/.test(typeof source) || !source || source instanceof URL || source.kind) return;
  const kind = Object.prototype.toString.call(source).slice(8, -1);
  const actual =
    kind === "Promise"
      ? "a Promise (await it)"
      : /^(Response|Blob|File)$/.test(kind)
        ? `a ${kind} (give its URL, or its arrayBuffer())`
        : source;
  fail("unknown-kernel", "source of a kernel", "a name, sizes, a URL, bytes or a WebAssembly.Module", actual);
};

/** A kernel that was not had the short way, for a `cause`: what is at `place` once more, or the source itself. */
export const loadAgain = async (
  source: any,
  place: string | URL | undefined,
  options: LoadOptions,
  cause: unknown,
  module: unknown,
): Promise<Kernel> => {
  if (typeof WebAssembly !== "object") fail("unsupported", "this engine has no WebAssembly");
  if (cause instanceof LadonError) throw cause.code === "length" ? explainKernel(source) : cause;
  if (module instanceof WebAssembly.Module) {
    fail("not-a-module", "module", "a section that ladon_add_kernel makes", "none", cause);
  }
  const { variant, signal } = options;
  checkSignal(signal);
  const usable = variants.filter(supports);
  if (variant != null && !usable.includes(variant)) fail("unsupported", "variant", usable, variant);
  if (source?.byteLength >= 0) {
    const bytes = unshared(source);
    if (bytes === source) return explainModule(bytes, cause);
    return load(await WebAssembly.compile(bytes).catch((cause) => explainModule(bytes, cause)), options);
  }
  checkKernelSource(source);
  if (!place || ((source.kind || !isUrl(source)) && !isShipped(source))) return explainKernel(source);
  const response = await open(place, signal);
  const bytes = await response.arrayBuffer().catch((cause) => failRead(`${place}`, cause, signal));
  return load(await WebAssembly.compile(bytes).catch((cause) => explainModule(bytes, cause, place)), options);
};
