// Builds the page of an imported model, and the part of the package that it needs, with esbuild.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { build } from "esbuild";
import { generate } from "./generate.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const common = { bundle: true, format: "esm", target: ["es2022"], minify: true, legalComments: "none", logLevel: "warning" };

const filesIn = (folder) =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (!entry.isDirectory()) return [entry.name];
    return filesIn(join(folder, entry.name)).map((file) => `${entry.name}/${file}`);
  });

/** Writes the service worker, which stores all files but the weights. The package stores the weights. */
async function buildServiceWorker(out) {
  const files = filesIn(out).filter((file) => !file.endsWith(".weights")).sort();
  const hash = createHash("sha256");
  for (const file of files) hash.update(file).update(readFileSync(join(out, file)));
  await build({
    ...common,
    outdir: out,
    entryPoints: [here("../demo/service-worker.ts")],
    define: {
      pageFiles: JSON.stringify(["./", ...files]),
      pageVersion: JSON.stringify(hash.digest("hex").slice(0, 16)),
    },
  });
}

/** Writes the page into the folder `out`, which has the modules, the weights and perhaps tokenizer.json. */
export async function buildModelPage(out, settings) {
  generate();
  mkdirSync(join(out, "ladon"));
  await build({
    ...common,
    outdir: join(out, "ladon"),
    entryPoints: ["../src/model.ts", "../src/tokenizer.ts", "../model/page.ts"].map(here),
    entryNames: "[name]",
    chunkNames: "[name]-[hash]",
    splitting: true,
    platform: "neutral", // the folder also works in Node
    external: ["node:*"], // imported by files.ts, in Node only
    define: { modelSettings: JSON.stringify(settings) },
  });
  await build({ ...common, outdir: join(out, "ladon"), entryPoints: [here("../model/page.css")] });
  copyFileSync(here("../node_modules/@huggingface/tokenizers/LICENSE"), join(out, "ladon/LICENSE-tokenizers.txt"));
  copyFileSync(here("../demo/icon.svg"), join(out, "ladon/icon.svg"));
  const text = readFileSync(here("../model/index.html"), "utf8");
  writeFileSync(join(out, "index.html"), text.replaceAll("@NAME@", () => settings.name));
  await buildServiceWorker(out);
}
