export type { Variant } from "../src/index.js";
import type { ShippedName, Variant } from "../src/index.js";

export interface BenchmarkShape {
  readonly tokens: number;
  readonly model: number;
  readonly heads: number;
  readonly kernel: ShippedName;
}

// The shapes that the benchmark measures. The kernel that computes a shape may have room for more tokens than the shape
// has.
export const shapes: readonly BenchmarkShape[] = [
  { tokens: 16, model: 64, heads: 4, kernel: "attention_64_4" },
  { tokens: 64, model: 128, heads: 4, kernel: "attention_128_4" },
  { tokens: 128, model: 384, heads: 12, kernel: "attention_384_12" },
  { tokens: 128, model: 768, heads: 12, kernel: "attention_768_12" },
  { tokens: 512, model: 256, heads: 8, kernel: "attention_256_8" },
];

/**
 * The results of one shape in one kind of module, in GFLOP/s: attention without a mask, attention with a causal mask,
 * and the ceiling. The ceiling is the rate of multiply-adds with all operands in registers.
 */
export interface Cell {
  readonly shape: number;
  readonly variant: Variant;
  readonly full: number;
  readonly causal: number;
  readonly ceiling: number;
}

export type BenchmarkMessage =
  | { readonly begins: number; readonly variant: Variant }
  | { readonly cell: Cell }
  | { readonly done: true }
  | { readonly problem: string };
