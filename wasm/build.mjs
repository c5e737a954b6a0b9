// Makes dist/: a minified file and a source map for each entry of the package. tsc writes the types. This script does
// not make dist/modules. `./dev wasm` makes the modules with CMake, and then runs this script.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { generate } from "./tools/generate.mjs";
import { attentionEntries } from "./tools/shipped-kernels.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
// `entries` are the files of the package that a user imports. `onDemand` are files that the package imports only when
// they are needed.
const entries = ["core", "index", "date-reader", "keywords", "minilm", "model", "tokenizer"];
const onDemand = ["files", "position-tables", "relaxed-dot", "safetensors", "team", "warm-up"];
// A page loads the microphone worklet into its audio thread, and a team starts its workers, so both are files of their
// own.
const worklets = ["microphone-worklet", "team-worker"];

/**
 * An esbuild plugin. It keeps the imports between the files of the package. Without the plugin, each file would contain
 * a copy of the code that it imports. Each file would then have its own class LadonError.
 */
const otherFiles = (own) => ({
  name: "other-files",
  setup({ onResolve }) {
    const resolve = (name, file) => {
      if (file === own) return;
      onResolve({ filter: new RegExp(`^\\.\\.?/${name}\\.js$`) }, () => ({ path: `./${file}.js`, external: true }));
    };
    resolve("core", "core");
    resolve("errors", "core");
    for (const file of onDemand) resolve(file, file);
  },
});

async function bundle(name, folder = "src") {
  await build({
    entryPoints: [here(`${folder}/${name}.ts`)],
    outdir: here("dist"),
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    platform: "neutral",
    external: ["node:*"], // imported by files.js
    sourcemap: true,
    plugins: [otherFiles(name)],
    logLevel: "warning",
  });
  const bytes = readFileSync(here(`dist/${name}.js`));
  console.log(`dist/${name}.js ${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} gzipped`);
}

function declareTypes() {
  const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", here("tsconfig.json")], { stdio: "inherit" });
}

mkdirSync(here("dist/models"), { recursive: true });
generate();
for (const name of [...entries, ...onDemand, ...worklets]) await bundle(name);
for (const name of Object.keys(attentionEntries(JSON.parse(readFileSync(here("modules.json")))))) {
  await bundle(name, "src/generated");
}
declareTypes();
copyFileSync(here("../examples/date_reader/weights.safetensors"), here("dist/models/date_reader.safetensors"));
if (existsSync(here("../LICENSE"))) copyFileSync(here("../LICENSE"), here("LICENSE"));
// Written last: tools/wasm.sh compares the sources with the time of this file.
copyFileSync(here("node_modules/@huggingface/tokenizers/LICENSE"), here("dist/LICENSE-tokenizers.txt"));
