// Makes src/generated: the tables that TypeScript shares with C++ and CMake. build.mjs runs this script before each
// build, so the files are always current. git ignores the files.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { checkpointNames } from "./checkpoint-names.mjs";
import { maskOptions } from "./mask-options.mjs";
import { attentionEntries, shippedKernels } from "./shipped-kernels.mjs";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const folder = new URL("../src/generated/", import.meta.url);

const write = (name, source, text) => writeFileSync(new URL(name, folder), `// Made from ${source}. Do not edit.\n${text}`);

export function generate() {
  mkdirSync(folder, { recursive: true });
  const table = "src/weights/checkpoint_names.cpp";
  write("checkpoint-names.ts", table, checkpointNames(read(`../../${table}`)));
  const masks = "src/c_kernel/masks.hpp";
  write("mask-options.ts", masks, maskOptions(read(`../../${masks}`)));
  const modules = JSON.parse(read("../modules.json"));
  write("shipped-kernels.ts", "wasm/modules.json", shippedKernels(modules));
  for (const [entry, text] of Object.entries(attentionEntries(modules))) write(`${entry}.ts`, "wasm/modules.json", text);
}
