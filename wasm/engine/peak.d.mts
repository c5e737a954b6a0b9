export function runs(kind: string): boolean;
export function makePeak(
  kind: string,
  options: { milliseconds: number },
): Promise<{ readonly flops: number; run(): void }>;
