export type { Variant } from "../src/index.js";
import type { ShippedName, Variant } from "../src/index.js";

export interface BenchmarkShape {
  readonly tokens: number;
  readonly model: number;
  readonly heads: number;
  readonly kernel: ShippedName;
}

// The shapes of bench/README.md that shipped kernels can be, fewer tokens than they have room for.
export const shapes: readonly BenchmarkShape[] = [
  { tokens: 16, model: 64, heads: 4, kernel: "attention_64_4" },
  { tokens: 64, model: 128, heads: 4, kernel: "attention_128_4" },
  { tokens: 128, model: 384, heads: 12, kernel: "attention_384_12" },
  { tokens: 128, model: 768, heads: 12, kernel: "attention_768_12" },
  { tokens: 512, model: 256, heads: 8, kernel: "attention_256_8" },
];

/** GFLOP/s of one shape and one module kind: what it reached, and multiplying and adding alone in the same rounds. */
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
