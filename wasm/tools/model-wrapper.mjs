// The typed wrapper of an imported model, as texts: NAME.js and NAME.d.ts.

const mark = "// Written by ./dev import.";

/** Returns a module that loads the model from the files beside it. */
export const wrapper = (name, sha256, eos) => `${mark}
import { Model } from "./ladon/model.js";

export { LadonError } from "./ladon/model.js";
export const sha256 = "${sha256}"; // of ${name}.weights
export const eos = ${JSON.stringify(eos)};

export const load = (options = {}) =>
  Model.load({
    module: (variant) => new URL(\`./${name}.\${variant}.wasm\`, import.meta.url),
    weights: new URL("./${name}.weights", import.meta.url),
    sha256,
    ...options,
  });
`;

const typeName = (name) => name.replace(/(^|_)([a-z0-9])/g, (_, __, letter) => letter.toUpperCase());

const lengthOf = ({ kind, most, fixed, width, rows }) => {
  if (kind === "ids") return `${fixed ? most : `1 to ${most}`} token ids below ${rows}`;
  return fixed ? `${most * width} numbers` : `[1 to ${most}][${width}] numbers`;
};

const signatures = {
  run: ({ width }, inputs) => [
    `Computes the last hidden state [rows][${width}].`,
    `run(inputs: ${inputs}): { readonly last: Float32Array; readonly rows: number; readonly width: number };`,
  ],
  pool: ({ width }, inputs) => [`Computes what the pooler makes of it: [${width}].`, `pool(inputs: ${inputs}): Float32Array;`],
  head: ({ width, hasRows }, inputs) => [
    `Computes what the head makes of it: ${hasRows ? "[rows]" : ""}[${width}].`,
    `head(inputs: ${inputs}): Float32Array;`,
  ],
};

/** Returns the method of a function, and the type of its inputs: "head" and "TextInputs" of "head_text". */
const methodOf = ({ name, inputs }) => {
  if (!inputs) return [name, "Inputs"];
  const [, method, stack] = /^([a-z]+)_(.*)$/.exec(name);
  return [method, `${typeName(stack)}Inputs`];
};

const interfaceOf = (name, inputs) => `export interface ${name} {
${inputs.map((one) => `  /** ${lengthOf(one)} */\n  readonly ${one.name}: ArrayLike<number>;${typesOf(one)}`).join("\n")}
}`;

/** Returns the interface Inputs, or one for each stack. */
const inputTypes = (inputs, functions) => {
  const stacks = new Map(functions.filter((one) => one.inputs).map((one) => [methodOf(one)[1], one.inputs]));
  if (stacks.size === 0) return interfaceOf("Inputs", inputs);
  const each = [...stacks].map(([name, names]) => interfaceOf(name, inputs.filter((one) => names.includes(one.name))));
  return [...each, `export type Inputs = ${[...stacks.keys()].join(" | ")};`].join("\n\n");
};

const typeOfTexts = `
  readonly texts: {
    readonly most: number;
    readonly vocabulary: number;
    readonly piece: number;
    readonly source?: string;
    readonly starts?: readonly number[];
  };`;

const logitsOf = ({ vocabulary, source }) => `
  /** Computes the logits [${vocabulary}] of the token that follows the ids. */
  logits(ids: readonly number[], options${source ? ": { readonly source: ArrayLike<number>;" : "?: {"} readonly prompt?: number }): Float32Array;
  /** Computes the beginning of a prompt of \`options.prompt\` ids, so that \`logits\` computes less. */
  read(ids: readonly number[], options: {${source ? " readonly source: ArrayLike<number>;" : ""} readonly prompt: number }): void;`;

const typesOf = ({ name, types, typeRows }) =>
  types ? `\n  /** A type from 0 to ${typeRows - 1} for each of ${name}; without types, all are 0. */\n  readonly ${types}?: ArrayLike<number>;` : "";

/** Returns the types of the wrapper. They need no other file. */
export const declarations = ({ name, inputs, functions, texts }) => `${mark}
${inputTypes(inputs, functions)}

/** Describes the module, as Generator of ladon/model reads it. */
export interface ModelDescription {
  readonly name: string;
  readonly variant: string;
  readonly precision: string;
  readonly inputs: readonly {
    readonly name: string;
    readonly kind: "ids" | "image" | "frames" | "time_series";
    readonly most: number;
    readonly fixed: boolean;
    readonly width: number;
    readonly rows: number;
    readonly types?: string;
    readonly typeRows?: number;
  }[];
  readonly functions: readonly {
    readonly name: string;
    readonly result: string;
    readonly most: number;
    readonly width: number;
    readonly hasRows: boolean;
    readonly inputs?: readonly string[];
  }[];${texts ? typeOfTexts : ""}
}

export interface ${typeName(name)} {
  readonly description: ModelDescription;
${functions
  .map((one) => [one, ...methodOf(one)])
  .filter(([, method]) => method in signatures)
  .map(([one, method, type]) => signatures[method](one, type))
  .map(([comment, signature]) => `  /** ${comment} */\n  ${signature}`)
  .join("\n")}${texts ? logitsOf(texts) : ""}
  /** Frees the memory. Results stay valid. */
  free(): void;
}

export interface LoadOptions {
  /** The default is the fastest variant that the engine supports. */
  readonly variant?: "relaxed" | "simd" | "scalar";
  /** Called when bytes of the weights arrive. */
  readonly progress?: (bytes: number, total: number) => void;
  readonly signal?: AbortSignal;
  /** False if the browser shall not keep the weights. */
  readonly cache?: boolean;
}

export declare const sha256: string;
/** The ids of the tokens that end a text. */
export declare const eos: readonly number[];
/** Loads the model from the files beside this one. Throws a LadonError. */
export declare const load: (options?: LoadOptions) => Promise<${typeName(name)}>;
export declare class LadonError extends Error {
  readonly code: string;
  readonly expected?: unknown;
  readonly actual?: unknown;
}
`;
