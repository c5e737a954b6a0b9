// Writes the folder of an imported model: modules, weights, a typed wrapper, and a page to try the model.
//
//   node model-folder.mjs --check OUT                         fails if OUT has files that this script has not written
//   node model-folder.mjs NAME FOLDER MODULES WEIGHTS OUT     FOLDER is the folder of the model
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildModelPage } from "./model-page.mjs";
import { declarations, wrapper } from "./model-wrapper.mjs";
import { pictureSettings } from "./picture-settings.mjs";
import { readJson } from "./read-json.mjs";

const listName = "ladon-files.json";

/** Throws if the folder has a file that is not in the list of the files that this script wrote. */
export function checkFolder(out) {
  if (!existsSync(out)) return;
  if (!statSync(out).isDirectory()) throw new Error(`${out} is not a folder`);
  const { files = [] } = readJson(join(out, listName));
  const other = readdirSync(out).find((name) => name !== listName && !files.includes(name));
  if (other) throw new Error(`${join(out, other)}: ./dev import has not written this file; name another folder`);
}

const descriptionOf = (bytes) => {
  const [section] = WebAssembly.Module.customSections(new WebAssembly.Module(bytes), "ladon");
  return JSON.parse(new TextDecoder().decode(section));
};

/** Returns what config.json says of the classes, or undefined where it says nothing: their names, in the order of the outputs,
 * and the kind of the problem. */
const classesOf = ({ id2label, problem_type }) => ({
  labels: id2label && Object.keys(id2label).sort((a, b) => a - b).map((id) => id2label[id]),
  problem: problem_type ?? undefined,
});

/** Returns the ids of the tokens that end a text. generation_config.json has precedence, as in transformers. */
const eosOf = (folder) => {
  const [generation, config] = ["generation_config.json", "config.json"].map((file) => readJson(join(folder, file)));
  return [generation.eos_token_id ?? config.eos_token_id ?? []].flat();
};

async function writeModel({ name, folder, modules, weights, out }) {
  mkdirSync(out, { recursive: true });
  const wasm = readdirSync(modules).filter((file) => file.endsWith(".wasm"));
  for (const file of wasm) copyFileSync(join(modules, file), join(out, file));
  copyFileSync(weights, join(out, `${name}.weights`));
  for (const file of ["tokenizer.json", "tokenizer_config.json"]) {
    if (existsSync(join(folder, file))) copyFileSync(join(folder, file), join(out, file));
  }
  // declarations() reads what all variants share. Node 20 supports no relaxed module.
  const description = descriptionOf(wasm.map((file) => readFileSync(join(modules, file))).find((bytes) => WebAssembly.validate(bytes)));
  const sha256 = createHash("sha256").update(readFileSync(weights)).digest("hex");
  const eos = eosOf(folder);
  writeFileSync(join(out, `${name}.js`), wrapper(name, sha256, eos));
  writeFileSync(join(out, `${name}.d.ts`), declarations(description));
  const classes = classesOf(readJson(join(folder, "config.json")));
  const hasTokenizer = existsSync(join(out, "tokenizer.json"));
  await buildModelPage(out, { name, sha256, classes, eos, hasTokenizer, picture: pictureSettings(folder, description) });
  writeFileSync(join(out, listName), `${JSON.stringify({ files: readdirSync(out), sha256, eos })}\n`);
}

/** Writes the folder beside `out` first, so that an error leaves nothing half-written. */
export async function writeModelFolder(settings) {
  const out = resolve(settings.out);
  const made = `${out}.new-${process.pid}`;
  checkFolder(out);
  try {
    await writeModel({ ...settings, out: made });
    rmSync(out, { recursive: true, force: true });
    renameSync(made, out);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, folder, modules, weights, out] = process.argv.slice(2);
  try {
    if (name === "--check") checkFolder(folder);
    else await writeModelFolder({ name, folder, modules, weights, out });
  } catch (error) {
    process.stderr.write(`${basename(import.meta.url)}: ${error.message}\n`);
    process.exitCode = 1;
  }
}
