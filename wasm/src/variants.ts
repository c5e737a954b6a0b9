/**
 * What a module is compiled for: relaxed SIMD (multiply and add as one), SIMD, or neither. The first that the engine
 * has is the fastest.
 */
export type Variant = "relaxed" | "simd" | "scalar";

export const variants: readonly Variant[] = ["relaxed", "simd", "scalar"];

/**
 * Whether the engine validates a function () -> v128 with an instruction of that kind: versions tell nothing. What
 * it gets is one local, three times: f32x4.relaxed_madd (253 133 2), or v128.bitselect (253 82) and a nop (1).
 */
export const supports = (variant: Variant): boolean =>
  variant === "scalar" ||
  WebAssembly.validate(
    Uint8Array.of(
      0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, // magic, version; types; functions
      10, 15, 1, 13, 1, 1, 123, 32, 0, 32, 0, 32, 0, 253, ...(variant === "simd" ? [82, 1] : [133, 2]), 11, // code
    ),
  );
