/**
 * What a module is compiled for: relaxed SIMD (multiply and add as one), SIMD, or neither. The first that the engine
 * has is the fastest.
 */
export type Variant = "relaxed" | "simd" | "scalar";

export const variants: readonly Variant[] = ["relaxed", "simd", "scalar"];

const zero = [65, 0, 253, 15]; // i32.const 0, i8x16.splat
const madd = [253, 133, 2]; // f32x4.relaxed_madd

/** Whether the engine validates a function () -> v128 with an instruction of that kind: versions tell nothing. */
export const supports = (variant: Variant): boolean => {
  const body = variant === "simd" ? zero : [...zero, ...zero, ...zero, ...madd];
  const code = [3, 2, 1, 0, 10, body.length + 4, 1, body.length + 2, 0, ...body, 11];
  return (
    typeof WebAssembly === "object" &&
    (variant === "scalar" ||
      WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, ...code])))
  );
};
