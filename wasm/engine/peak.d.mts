export function runs(kind: string): boolean;
export function makePeak(
  kind: string,
  options: { precision?: "float32" | "int8"; milliseconds: number },
): Promise<{ readonly flops: number; run(): void }>;
