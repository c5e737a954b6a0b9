// SPDX-License-Identifier: Apache-2.0
export type { ShippedName, Wanted } from "./catalog.js";
export type { CachePrecision, Description, ModuleFunction, Option, OptionType, Precision, ShippedPrecision, Tensor } from "./description.js";
export type { WeightArray, WeightType } from "./element-types.js";
export { type ErrorCode, LadonError } from "./errors.js";
export { type CompiledModule, type KernelSource, load } from "./load.js";
export type {
  CreateOptions,
  Instance,
  Kernel,
  LoadOptions,
  LoadWeightsOptions,
  Mask,
  MemoryOptions,
  RelativeOptions,
  RotaryOptions,
  RunOptions,
  SetOptions,
  TeamInstance,
  TeamKernel,
  TeamLoadOptions,
  WarmedUp,
  WarmUpOptions,
  Weights,
  WeightsSource,
} from "./types.js";
export type { ModuleVariant, Variant } from "./variants.js";
