// Makes the page in dist/demo. The page consists of static files, which any server can serve under any path. build.mjs
// must run first, because this script copies the modules and weights.
import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
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

// The page needs no int8 modules of attention, because its benchmark measures attention only in float32.
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
 * Returns the folders that may hold KWT-1 and the recordings: LADON_KEYWORDS_DIR, the cache folder of
 * examples/keywords, and shared/models/kwt1 beside the repository.
 */
function keywordFolders() {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "ladon/keywords");
  return [process.env.LADON_KEYWORDS_DIR, cache, join(wasm, "../../shared/models/kwt1")].filter(Boolean);
}

/**
 * Copies KWT-1 and the recordings if the files are present. If the model is absent, the page offers to fetch the
 * published file. If a recording is absent, the page has no button for it.
 */
function copyKeywords() {
  const copy = (name) => {
    const folder = keywordFolders().find((one) => existsSync(join(one, name)));
    if (folder) cpSync(join(folder, name), join(target, "keywords", name));
    return folder !== undefined;
  };
  return { model: copy(keywordModel), recordings: recordings.filter((name) => copy(`${name}_1000ms.wav`)) };
}

/**
 * Returns the address of the project: LADON_URL, or the address that this checkout was cloned from. Returns undefined
 * if LADON_URL is not set and git knows no address. tools/release.sh has the same rule.
 */
function projectUrl() {
  const origin = () => {
    try {
      return execFileSync("git", ["remote", "get-url", "origin"], {
        cwd: wasm,
        encoding: "utf8",
        stdio: "pipe",
      }).trim();
    } catch {
      return "";
    }
  };
  const url =
    process.env.LADON_URL ||
    origin()
      .replace(/:\/\/[^/@]*@/, "://")
      .replace(/\.git$/, "");
  return /^https?:\/\//.test(url) ? url : undefined;
}

/**
 * Writes index.html. Adds the address of the project to the link "Source". Other sites show page.png as a preview of
 * the page, but do not accept a relative address of page.png. If LADON_PAGE_URL, the address of the page, is set, this
 * function writes the absolute address of page.png.
 */
export function writeIndex(folder = target) {
  const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  const project = projectUrl();
  const replace = (text, from, to) => {
    if (!text.includes(from)) throw new Error(`index.html lacks ${from}`);
    return text.replace(from, () => to);
  };
  const link = '<a class="source" id="source">Source</a>';
  let text = readFileSync(join(source, "index.html"), "utf8");
  if (!hasStories) text = text.replace(/ *<!-- stories -->[^]*?<!-- \/stories -->\n/g, "");
  text = replace(text, link, project ? link.replace('id="source"', `id="source" href="${escaped(project)}"`) : "");
  const page = process.env.LADON_PAGE_URL;
  if (page) text = replace(text, 'content="page.png"', `content="${escaped(new URL("page.png", page).href)}"`);
  writeFileSync(join(folder, "index.html"), text);
}

const storiesFolder = join(wasm, "dist/stories");
const hasStories = existsSync(join(storiesFolder, "ladon-files.json"));

/**
 * Copies the model that tools/wasm.sh imported, and returns its facts. If the model is absent, the page has no tab of
 * stories.
 */
function copyStories() {
  if (!hasStories) return undefined;
  const files = readdirSync(storiesFolder).filter((name) => /\.(wasm|weights)$|^tokenizer\.json$/.test(name));
  for (const name of files) cpSync(join(storiesFolder, name), join(target, "stories", name));
  const { sha256, eos } = JSON.parse(readFileSync(join(storiesFolder, "ladon-files.json"), "utf8"));
  return { sha256, eos, bytes: statSync(join(storiesFolder, "stories260k.weights")).size };
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
  writeIndex();
  for (const name of ["icon.svg", "page.png"]) cpSync(join(source, name), join(target, name));
  cpSync(join(wasm, "dist/models"), join(target, "models"), { recursive: true });
  cpSync(join(wasm, "dist/modules"), join(target, "modules"), { recursive: true, filter: isOfPage });
  const storiesModel = JSON.stringify(copyStories()) ?? "undefined";
  await build({
    ...common,
    entryPoints: ["main.ts", "sentence-worker.ts", "benchmark-worker.ts", "page.css"].map((name) => join(source, name)),
    define: { moduleSizes: JSON.stringify(moduleSizes()), keywordFiles: JSON.stringify(copyKeywords()), storiesModel },
    splitting: true,
    chunkNames: "[name]-[hash]",
  });
  // The worklet is built separately and without splitting, because a worklet does not share code with the page.
  await build({ ...common, entryPoints: [join(wasm, "src/microphone-worklet.ts")] });
  // The service worker is built last, because its script contains the list of all files and a hash of their content.
  // The list does not contain KWT-1 and the weights of the stories, because their tabs store them. Nor does it contain
  // page.png, because only other sites show page.png.
  const files = filesIn(target)
    .filter((file) => ![keywordModel, "page.png", "stories260k.weights"].includes(basename(file)))
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
