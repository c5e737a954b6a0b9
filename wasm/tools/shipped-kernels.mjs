// Translates the list of shipped modules (modules.json) into TypeScript. A module NAME_int8 is the kernel NAME in int8.

/** Returns the sizes of an attention kernel; undefined for encoders. */
function attentionOf(name, text) {
  const words = text.split(" ");
  if (words.includes("FEED_FORWARD")) return undefined;
  const [tokens, model, heads] = ["QUERIES", "MODEL", "HEADS"].map((key) => Number(words[words.indexOf(key) + 1]));
  if (name !== `attention_${model}_${heads}`) throw new Error(`modules.json: expected attention_${model}_${heads}, found ${name}`);
  return { name, tokens, model, heads };
}

const int8 = "_int8";

/**
 * Returns the names of the kernels that are also shipped with int8 weights. In modules.json, the arguments of the
 * kernel NAME_int8 must be those of NAME, followed by PRECISION int8. Otherwise, the function throws.
 */
function int8NamesOf(list) {
  const modules = Object.keys(list).filter((name) => name.endsWith(int8));
  return modules.map((module) => {
    const name = module.slice(0, -int8.length);
    const expected = `${list[name]} PRECISION int8`;
    if (list[module] !== expected) throw new Error(`modules.json: expected "${module}": "${expected}", found ${list[module]}`);
    return name;
  });
}

export function shippedKernels(list) {
  const names = Object.keys(list).filter((name) => !name.endsWith(int8));
  const attentions = names.map((name) => attentionOf(name, list[name])).filter(Boolean);
  const attentionNames = attentions.map(({ name }) => name);
  const models = names.filter((name) => !attentionNames.includes(name));
  const entries = Object.fromEntries(models.map((name) => [name, `ladon/${name.replace("_", "-")}`]));
  return `
/** The attention kernels that the package ships; wasm/README.md says what each of them is. */
export type ShippedName =
${attentionNames.map((name) => `  | "${name}"`).join("\n")};

/** The entry of the package that has the kernel of a model, by the name of the kernel. */
export const entriesOfModels: Readonly<Record<string, string>> = ${JSON.stringify(entries)};

/** The attention kernels that the package ships in int8, too. */
export const int8Names: readonly string[] = ${JSON.stringify(int8NamesOf(list).filter((name) => attentionNames.includes(name)))};

export interface ShippedAttention {
  readonly name: ShippedName;
  /** The largest number of tokens. */
  readonly tokens: number;
  readonly model: number;
  readonly heads: number;
}

export const shippedAttentions: readonly ShippedAttention[] = ${JSON.stringify(attentions, undefined, 2)};
`;
}

/**
 * Returns the texts of the entries of single attention kernels, by the name of the entry: "attention-64-4" for
 * attention_64_4. An entry refers only to the modules of its kernel, so bundlers copy no others.
 */
export function attentionEntries(list) {
  const names = Object.keys(list).filter((name) => !name.endsWith(int8) && attentionOf(name, list[name]));
  return Object.fromEntries(names.map((name) => {
    const url = (module) => `new URL(\`./modules/${module}.\${variant}.wasm\`, import.meta.url)`;
    const hasInt8 = int8NamesOf(list).includes(name);
    const choice = hasInt8 ? `options.precision === "int8" ? ${url(name + int8)} : ${url(name)}` : url(name);
    return [name.replaceAll("_", "-"), `
import { type Kernel, load, type LoadOptions } from "../core.js";
import { mentionBundler } from "../shipped.js";

/** Loads the kernel ${name}. Errors: those of \`load\`. */
export const loadKernel = (options: ${hasInt8 ? "LoadOptions" : 'Omit<LoadOptions, "precision" | "activationBits">'} = {}): Promise<Kernel> =>
  load((variant) => ${choice}, options).catch(mentionBundler);
`];
  }));
}
