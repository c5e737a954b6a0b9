// SPDX-License-Identifier: Apache-2.0
// The entry ladon/core: everything of the entry `ladon`, except the shipped attention kernels. All other files of the
// package import this file, so bundlers copy only the modules to which the imported entries refer.
export type { CachePrecision, Description, ModuleFunction, Option, OptionType, Precision, ShippedPrecision, Tensor } from "./description.js";
export type { WeightArray, WeightType } from "./element-types.js";
export { type ErrorCode, LadonError } from "./errors.js";
export { type CompiledModule, load, type OwnSource } from "./load.js";
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
