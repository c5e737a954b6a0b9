/**
 * What a module is compiled for: relaxed SIMD (multiply and add as one), SIMD, or neither. The first that the engine
 * has is the fastest.
 */
export type Variant = "relaxed" | "simd" | "scalar";

export const variants: readonly Variant[] = ["relaxed", "simd", "scalar"];

const zero = [65, 0, 253, 15]; // i32.const 0, i8x16.splat
// Each body makes a v128: by relaxed_madd of three, or by the splat alone.
const bodies: Record<Variant, number[]> = {
  relaxed: [...zero, ...zero, ...zero, 253, 133, 2],
  simd: zero,
  scalar: [],
};

/** Whether the engine validates a module with one instruction of that kind: versions tell nothing, flags decide. */
export const supports = (variant: Variant): boolean => {
  if (typeof WebAssembly !== "object") return false;
  const body = bodies[variant];
  if (!body[0]) return true;
  const type = [1, 5, 1, 96, 0, 1, 123]; // () -> v128
  const code = [3, 2, 1, 0, 10, body.length + 4, 1, body.length + 2, 0, ...body, 11];
  return WebAssembly.validate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, ...type, ...code]));
};
