// SPDX-License-Identifier: Apache-2.0
// Declares the functions of Node that files.ts uses, and no others. If all of Node's types were declared, the compiler
// would accept Node's names in code for browsers.
declare module "node:fs" {
  export const promises: { stat(url: URL): Promise<{ size: number }> };
  export const createReadStream: (url: URL) => ReadableStream;
}
declare module "node:crypto" {
  export const webcrypto: Crypto;
}
declare module "node:url" {
  export const pathToFileURL: (path: string | URL) => URL;
}
declare module "node:worker_threads" {
  export class Worker {
    constructor(program: string, options: { eval: true });
    postMessage(message: unknown): void;
    terminate(): unknown;
    on(name: string, act: (value: any) => void): void;
    ref(): void;
    unref(): void;
  }
}
