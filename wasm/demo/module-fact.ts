import type { Instance, Kernel } from "../src/index.js";
import { bytes } from "./format.js";

// The build defines the sizes of each module in bytes, uncompressed and gzipped.
declare const moduleSizes: Record<string, readonly [size: number, gzipped: number]>;

const variantNames = { relaxed: "relaxed SIMD", simd: "SIMD", scalar: "scalar" };

/** Returns the name, the size and a note about the kernel's module, as a row for the table of facts on the page. */
export function moduleFact(kernel: Kernel): readonly [string, string, string] {
  const { name, activationBits } = kernel.description;
  const [size, gzipped] = moduleSizes[`${name}.${kernel.variant}`]!;
  const inputs = activationBits === undefined ? "" : `, ${activationBits}-bit activations`;
  return ["Module", bytes(gzipped), `gzipped; ${bytes(size)} as it is, ${variantNames[kernel.variant]}${inputs}`];
}

/**
 * Returns the bytes of an instance's memory: weights, workspace, inputs and results. Code and tables are not included.
 */
export function memoryOf(instance: Instance, tensor: string): number {
  return instance.weights.tensor(tensor).buffer.byteLength;
}
