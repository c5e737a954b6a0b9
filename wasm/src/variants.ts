// SPDX-License-Identifier: Apache-2.0
/** The instructions of a module: relaxed SIMD (which has a fused multiply-add), SIMD, or neither. */
export type Variant = "relaxed" | "simd" | "scalar";

/** The part of a module's file name in front of ".wasm": the variant, and ".threads" for a module for threads. */
export type ModuleVariant = Variant | `${Variant}.threads`;

/** All variants. On most engines, the first is the fastest. */
export const variants: readonly Variant[] = ["relaxed", "simd", "scalar"];

/**
 * Returns true if the engine supports the variant: the engine must accept a small module with instructions of this
 * variant. The module has one function () -> v128, which pushes a local three times. For "relaxed", f32x4.relaxed_madd
 * follows (253 133 2), then the local two times, and i32x4.relaxed_dot_i8x16_i7x16_add_s (253 147 2). For "simd",
 * v128.bitselect (253 82) and nops (1) follow.
 */
export const supports = (variant: Variant): boolean =>
  variant === "scalar" ||
  WebAssembly.validate(
    Uint8Array.of(
      0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, // magic, version; types; functions
      10, 22, 1, 20, 1, 1, 123, 32, 0, 32, 0, 32, 0, 253, // code
      ...(variant === "simd" ? [82, 1, 1, 1, 1, 1, 1, 1, 1] : [133, 2, 32, 0, 32, 0, 253, 147, 2]), 11,
    ),
  );

/** On x86, Infinity - Infinity is a NaN whose sign bit is set. On Arm, the sign bit is not set. */
const isX86 = (): boolean => {
  const infinity = Float32Array.of(Infinity);
  infinity[0]! -= infinity[0]!;
  return new Uint8Array(infinity.buffer)[3] === 255;
};

/**
 * Returns true if SIMD modules are faster than relaxed modules. On x86, V8 before version 13.5 (Node 22, Chrome 134)
 * does not keep the sums of relaxed modules in registers. There, relaxed modules with float32 weights take 1.7 times as
 * long as SIMD modules (Node 22, Zen 4), and with int8 weights, both take the same time. Math.f16round exists
 * from V8 13.5 on.
 */
const prefersSimd = (): boolean => !("f16round" in Math) && isX86();

/** Returns the variants that this engine supports, the fastest first. */
export const fastestFirst = (): Variant[] => {
  const supported = variants.filter(supports);
  return prefersSimd() ? [...supported.filter((one) => one === "simd"), ...supported.filter((one) => one !== "simd")] : supported;
};
