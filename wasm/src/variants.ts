// SPDX-License-Identifier: Apache-2.0
/** The instructions of a module: relaxed SIMD (which has a fused multiply-add), SIMD, or neither. */
export type Variant = "relaxed" | "simd" | "scalar";

/** All variants, the fastest first. */
export const variants: readonly Variant[] = ["relaxed", "simd", "scalar"];

/**
 * Returns true if the engine supports the variant: the engine must accept a small module with an instruction of this
 * variant. The module has one function () -> v128, which pushes a local three times. For "relaxed", f32x4.relaxed_madd
 * follows (253 133 2). For "simd", v128.bitselect (253 82) and a nop (1) follow.
 */
export const supports = (variant: Variant): boolean =>
  variant === "scalar" ||
  WebAssembly.validate(
    Uint8Array.of(
      0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, // magic, version; types; functions
      10, 15, 1, 13, 1, 1, 123, 32, 0, 32, 0, 32, 0, 253, ...(variant === "simd" ? [82, 1] : [133, 2]), 11, // code
    ),
  );
