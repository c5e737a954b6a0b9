import type { Instance, Kernel } from "../src/index.js";
import { bytes } from "./format.js";

// By the build: each module's bytes, as they are and gzipped.
declare const moduleSizes: Record<string, readonly [size: number, gzipped: number]>;

const variantNames = { relaxed: "relaxed SIMD", simd: "SIMD", scalar: "scalar" };

/** For showFacts: what the module weighs. */
export function moduleFact(kernel: Kernel): readonly [string, string, string] {
  const { name, activationBits } = kernel.description;
  const [size, gzipped] = moduleSizes[`${name}.${kernel.variant}`]!;
  const inputs = activationBits === undefined ? "" : `, ${activationBits}-bit activations`;
  return ["Module", bytes(gzipped), `gzipped; ${bytes(size)} as it is, ${variantNames[kernel.variant]}${inputs}`];
}

/** Bytes of all that an instance has: code and tables apart, weights, workspace, inputs, results. */
export function memoryOf(instance: Instance, tensor: string): number {
  return instance.weights.tensor(tensor).buffer.byteLength;
}
