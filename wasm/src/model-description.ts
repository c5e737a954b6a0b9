// SPDX-License-Identifier: Apache-2.0
// Reads the description of a model from the custom section `ladon` of its module. src/import/module_description.cpp
// writes the description.
import { isSize } from "./check.js";
import { fail } from "./fail.js";
import { readSection } from "./module-section.js";
import type { Variant } from "./variants.js";

/** The version of the interface between modules of models and this package. */
const modelAbi = 2;

/** An input of a model. Its name is that of transformers, such as "input_ids" or "pixel_values". */
export interface ModelInput {
  readonly name: string;
  /** Token ids, or floats: the numbers of an image, frames of a sound, or steps of a time series. */
  readonly kind: "ids" | "image" | "frames" | "time_series";
  /** The largest number of ids or frames. */
  readonly most: number;
  /** True if the length is always `most`. */
  readonly fixed: boolean;
  /** The numbers of a frame. */
  readonly width: number;
  /** The size of the vocabulary. */
  readonly rows: number;
  /** The name of a further input, which may be absent: a type for each token id, such as "token_type_ids". */
  readonly types?: string;
  /** With `types`: the number of types. */
  readonly typeRows?: number;
}

/** A function of a model, which computes `result` [rows][width]. */
export interface ModelFunction {
  readonly name: string;
  readonly result: string;
  /** The largest number of rows. */
  readonly most: number;
  readonly width: number;
  /** True if the number of rows depends on the inputs. Otherwise, the result is one row. */
  readonly hasRows: boolean;
  /**
   * In a model of several stacks, such as CLIP: the names of the inputs of this function. The function's name ends with
   * that of the stack, such as "head_text". Otherwise undefined: the function takes all inputs.
   */
  readonly inputs?: readonly string[];
}

/** The texts that a language model writes. */
export interface ModelTexts {
  /** The largest number of tokens. */
  readonly most: number;
  readonly vocabulary: number;
  /** The number of tokens of a prompt that the module computes at once. */
  readonly piece: number;
  /** In a model with an encoder and a decoder: the input of the encoder. The decoder writes the text. */
  readonly source?: string;
  /** With `source`: the tokens with which a text begins, as the model's settings say. */
  readonly starts?: readonly number[];
}

export interface ModelDescription {
  readonly ladonModel: number;
  /** The version of the C++ headers that the module was made from. */
  readonly version: string;
  readonly name: string;
  readonly variant: Variant;
  readonly precision: "float32" | "bfloat16" | "int8" | "rotated_int8" | "int4" | "rotated_int4";
  readonly inputs: readonly ModelInput[];
  readonly functions: readonly ModelFunction[];
  /** Undefined if the model writes no texts. */
  readonly texts?: ModelTexts;
}

const isInput = (one: any): boolean =>
  typeof one?.name === "string" &&
  ["ids", "image", "frames", "time_series"].includes(one.kind) &&
  [one.most, one.width, one.rows, one.typeRows ?? 0].every(isSize) &&
  one.width > 0;
const isFunction = (one: any, inputs: any): boolean =>
  typeof one?.name === "string" &&
  typeof one.result === "string" &&
  isSize(one.most) &&
  isSize(one.width) &&
  (one.inputs ?? []).every?.((name: any) => inputs.some((input: ModelInput) => input.name === name));
const isTexts = (one: any, inputs: any): boolean => {
  if (one === undefined) return true;
  const isSource = one?.source === undefined || inputs.some(({ name }: ModelInput) => name === one.source);
  return [one?.most, one?.vocabulary, one?.piece].every(isSize) && one.piece > 0 && isSource && (one.starts ?? []).every?.(isSize);
};

/** Reads and checks the description of a model. The description is frozen. */
export const describeModel = (module: WebAssembly.Module): ModelDescription => {
  const given = readSection(module, "./dev import --wasm");
  if (given?.ladon !== undefined) fail("not-a-module", "module", "a model", "a kernel: use load of ladon");
  if (given?.ladonModel !== undefined && given.ladonModel !== modelAbi) {
    fail("version", "module's format", modelAbi, given.ladonModel);
  }
  const { inputs, functions, ladonModel, texts } = given ?? {};
  const isSound =
    ladonModel === modelAbi &&
    Array.isArray(inputs) &&
    inputs.every(isInput) &&
    Array.isArray(functions) &&
    functions.every((one) => isFunction(one, inputs)) &&
    isTexts(texts, inputs);
  if (!isSound) fail("not-a-module", "description of a model", "inputs and functions", "other values or none");
  return given;
};
