// SPDX-License-Identifier: Apache-2.0
// The functions of Node that files.ts uses. With all of Node's types, names of Node would pass for names of browsers.
declare module "node:fs" {
  export const promises: { stat(url: URL): Promise<{ size: number }> };
  export const createReadStream: (url: URL) => ReadableStream;
}
declare module "node:url" {
  export const pathToFileURL: (path: string | URL) => URL;
}
