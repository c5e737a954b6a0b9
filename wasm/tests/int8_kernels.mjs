// Code that several tests of int8 kernels use.
import { existsSync } from "node:fs";
import { load } from "../dist/index.js";
import { runs, shipped, variants } from "./kernels.mjs";

const folder = new URL("kernels/modules/", import.meta.url);
export const skipWithoutKernels = existsSync(new URL("int8_layer.scalar.wasm", folder))
  ? false
  : "tests/kernels is not built";

/** Returns the URL of a kernel of tests/kernels/CMakeLists.txt, to which `load` adds the variant. */
export const testKernel = (name) => new URL(name, folder);

/** The variants that this engine runs, or those among them that the environment variable LADON_VARIANTS names. */
const chosen = process.env.LADON_VARIANTS?.split(",") ?? variants;
export const runnable = chosen.filter((variant) => runs("minilm_int8", variant));

/** The variants of `runnable` in which tests/kernels/CMakeLists.txt makes the kernel. */
export const runnableOf = (name) =>
  runnable.filter((variant) => existsSync(new URL(`${name}.${variant}.wasm`, folder)));

/**
 * Loads the scalar variant of a shipped int8 kernel. The scalar variant supports activations of 8 bits on every engine.
 */
export const shippedScalar = (name) => load(shipped(`${name}_int8`), { variant: "scalar" });

/**
 * Loads a kernel. Returns undefined if `load` rejects the kernel because this engine computes inexact relaxed dot
 * products. Some engines are inexact only for inputs of 8 bits, and others for any number of bits.
 */
export const exactKernel = (source, options) =>
  load(source, options).catch((error) => {
    if (error.code === "unsupported" && /relaxed/.test(error.message)) return undefined;
    throw error;
  });
