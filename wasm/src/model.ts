// SPDX-License-Identifier: Apache-2.0
// The entry ladon/model: whole models that `./dev import FOLDER --wasm DIR` made, and generation of text.
export { LadonError } from "./errors.js";
export { type GenerateOptions, type GeneratedToken, Generator, type GeneratorOptions, type LanguageModel } from "./generator.js";
export type { ModelInputs } from "./model-inputs.js";
export type { ModelDescription, ModelFunction, ModelInput } from "./model-description.js";
export type { ModelSource } from "./model-source.js";
export type { SamplingOptions } from "./sampling.js";
export type { TextOptions } from "./text-cache.js";
export { type HiddenState, Model, type ModelOptions } from "./whole-model.js";
