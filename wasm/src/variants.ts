// SPDX-License-Identifier: Apache-2.0
/** The instructions of a module: relaxed SIMD (which has a fused multiply-add), SIMD, or neither. */
export type Variant = "relaxed" | "simd" | "scalar";

/** All variants, the fastest first. */
export const variants: readonly Variant[] = ["relaxed", "simd", "scalar"];

/**
 * Returns true if the engine supports the variant. The engine validates a module with one function () -> v128. The
 * function pushes a local three times. For "relaxed", the next instruction is f32x4.relaxed_madd (253 133 2). For
 * "simd", the next instructions are v128.bitselect (253 82) and a nop (1).
 */
export const supports = (variant: Variant): boolean =>
  variant === "scalar" ||
  WebAssembly.validate(
    Uint8Array.of(
      0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, // magic, version; types; functions
      10, 15, 1, 13, 1, 1, 123, 32, 0, 32, 0, 32, 0, 253, ...(variant === "simd" ? [82, 1] : [133, 2]), 11, // code
    ),
  );
