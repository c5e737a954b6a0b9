// bench/browser/peak.mjs: modules that do nothing but multiply and add.
declare module "*/peak.mjs" {
  export function runs(kind: string): boolean;
  export function makePeak(
    kind: string,
    options: { milliseconds: number },
  ): Promise<{ readonly flops: number; run(): void }>;
}
