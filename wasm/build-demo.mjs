// Makes dist/demo, the page: static files that any server can serve under any path. build.mjs must run first, because
// this script copies the modules and weights.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const wasm = dirname(fileURLToPath(import.meta.url));
const source = join(wasm, "demo");
const target = join(wasm, "dist/demo");

function filesIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

// The benchmark measures float32 only.
const isOfPage = (path) => !/attention_\d+_\d+_int8\./.test(path);

function moduleSizes() {
  const folder = join(wasm, "dist/modules");
  const sizes = readdirSync(folder)
    .filter((name) => name.endsWith(".wasm"))
    .map((name) => {
      const bytes = readFileSync(join(folder, name));
      return [name.slice(0, -".wasm".length), [bytes.length, gzipSync(bytes, { level: 9 }).length]];
    });
  return Object.fromEntries(sizes);
}

const keywordModel = "kwt1.safetensors";
const recordings = ["yes", "no", "noise", "silence"];

/**
 * Returns the folders that may contain KWT-1 and the recordings: the folders of the program keywords, and a shared
 * folder.
 */
function keywordFolders() {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "ladon/keywords");
  return [process.env.LADON_KEYWORDS_DIR, cache, join(wasm, "../../shared/models/kwt1")].filter(Boolean);
}

/**
 * Copies KWT-1 and the recordings if the files are present. Without the model, the page fetches the published file when
 * the user asks for the model. Without a recording, the page has no button for the recording.
 */
function copyKeywords() {
  const copy = (name) => {
    const folder = keywordFolders().find((one) => existsSync(join(one, name)));
    if (folder) cpSync(join(folder, name), join(target, "keywords", name));
    return folder !== undefined;
  };
  return { model: copy(keywordModel), recordings: recordings.filter((name) => copy(`${name}_1000ms.wav`)) };
}

const common = {
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: true,
  outdir: target,
  legalComments: "none",
  logLevel: "warning",
};

export async function buildDemo() {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  for (const name of ["index.html", "icon.svg"]) cpSync(join(source, name), join(target, name));
  cpSync(join(wasm, "dist/models"), join(target, "models"), { recursive: true });
  cpSync(join(wasm, "dist/modules"), join(target, "modules"), { recursive: true, filter: isOfPage });
  await build({
    ...common,
    entryPoints: ["main.ts", "sentence-worker.ts", "benchmark-worker.ts", "page.css"].map((name) => join(source, name)),
    define: { moduleSizes: JSON.stringify(moduleSizes()), keywordFiles: JSON.stringify(copyKeywords()) },
    splitting: true,
    chunkNames: "[name]-[hash]",
  });
  await build({ ...common, entryPoints: [join(wasm, "src/microphone-worklet.ts")] }); // alone: worklets share no code
  // The service worker is built last, because its script contains the list of all files and a version made from their
  // content. The list does not contain the model, because the panel stores the model.
  const files = filesIn(target)
    .filter((file) => !file.endsWith(keywordModel))
    .sort();
  const hash = createHash("sha256");
  for (const file of files) hash.update(relative(target, file)).update(readFileSync(file));
  await build({
    ...common,
    entryPoints: [join(source, "service-worker.ts")],
    define: {
      pageFiles: JSON.stringify(["./", ...files.map((file) => relative(target, file).replaceAll("\\", "/"))]),
      pageVersion: JSON.stringify(hash.digest("hex").slice(0, 16)),
    },
  });
  return target;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildDemo();
