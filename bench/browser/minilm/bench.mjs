// bench.mjs --build FOLDER --model FOLDER [--json FILE] [--markdown FILE] [--rounds N] [--tokens 8 ...] [--starts N]
//           [--node] [--no-chromium] [--milliseconds N] [--binding INDEX.js] [--precision int8]
// --rounds 0 measures only starts. --precision int8 compares int8 weights with float32 weights, and measures the
// cosines between int8 vectors and float32 vectors. `./dev bench browser --minilm` makes the folders and runs this
// program.
import {existsSync, mkdirSync, readFileSync, rmSync, symlinkSync} from "node:fs";
import {join, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {parseArgs} from "node:util";

import {bundleOrtMiniLm, bundleTransformers} from "../bundle.mjs";
import {inChromium} from "../in_chromium.mjs";
import {inNode} from "../in_node.mjs";
import {spread} from "../rounds.mjs";
import {machine} from "../report.mjs";
import {checkReplaceable, replaceFile} from "../whole_file.mjs";
import {models} from "./models.mjs";
import {Lines, markdown, sizes} from "./report.mjs";

const {values: chosen, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    build: {type: "string"}, model: {type: "string"}, binding: {type: "string"}, json: {type: "string"},
    markdown: {type: "string"}, rounds: {type: "string", default: "31"}, milliseconds: {type: "string", default: "2"},
    starts: {type: "string", default: "7"}, tokens: {type: "string", multiple: true}, minilm: {type: "boolean"},
    node: {type: "boolean", default: false}, "no-chromium": {type: "boolean", default: false},
    precision: {type: "string", default: "float32"},
  },
});
checkReplaceable(chosen.json, chosen.markdown);
const say = text => console.error(`bench: ${text}`);
const stop = text => {
  say(text);
  process.exit(2);
};
if (!["float32", "int8"].includes(chosen.precision)) stop("--precision is float32 or int8");
const isInt8 = chosen.precision === "int8";
const tokens = [...(chosen.tokens ?? []), ...positionals].map(Number);  // in `--tokens 8 11`, 11 is positional
if (!tokens.every(count => Number.isInteger(count) && count >= 3 && count <= 128)) stop("--tokens are 3 to 128");
const build = resolve(chosen.build);
const index = resolve(chosen.binding ?? fileURLToPath(new URL("../../../wasm/dist/index.js", import.meta.url)));
if (!existsSync(join(index, "../minilm.js"))) stop(`there is no package, ./dev wasm makes it: ${index}`);
mkdirSync(join(build, "minilm"), {recursive: true});
for (const name of ["model.safetensors", "vocab.txt"]) {  // links into the build, which the server for Chromium serves
  if (!existsSync(join(chosen.model, name))) stop(`there is no ${join(chosen.model, name)}`);
  rmSync(join(build, "minilm", name), {force: true});
  symlinkSync(resolve(chosen.model, name), join(build, "minilm", name));
}
const converted = existsSync(join(build, "minilm/tokenizer_config.json"));
if (!converted) say("transformers.js is left out: its files of the model are not made");
const transformers = converted ? await bundleTransformers(build, say) : {};
if (isInt8) delete transformers.transformers_wasm_only;
const formsOf = precision => Object.keys(models).filter(form => models[form].precision === precision);
const peers = Object.keys(transformers).map(name => ({
  name, forms: isInt8 ? ["plain operators", ...formsOf("int8")] : formsOf("float32")}));
if (isInt8 && converted) {
  peers.push(...(await bundleOrtMiniLm(build, say)).map(name => ({name, forms: Object.keys(models)})));
}

const environments = [...(chosen["no-chromium"] ? [] : [["Chromium", inChromium]]),
                      ...(chosen.node ? [["Node", inNode]] : [])];
const all = {machine: machine(), precision: chosen.precision,
             sizes: sizes(build, index, transformers, chosen.precision), environments: []};
for (const [name, run] of environments) {
  try {
    all.environments.push(await measureIn(name, run));
  } catch (error) {
    say(`${name}: ${error.message}`);
    process.exitCode = 1;
  }
}
console.log(Lines.sizes(all.sizes));
if (chosen.json) replaceFile(chosen.json, `${JSON.stringify(all, null, 1)}\n`);
if (chosen.markdown) replaceFile(chosen.markdown, markdown(all));

async function measureIn(name, run) {
  const found = {name, rows: [], tokenizing: [], cosines: [], starts: []};
  const lines = new Lines();
  const options = {tokens: tokens.length > 0 ? tokens : isInt8 ? [8, 32, 128] : [8, 11, 32, 128], peers,
                   precision: chosen.precision, rounds: Number(chosen.rounds),
                   milliseconds: Number(chosen.milliseconds)};
  const report = ({row, tokenizing, cosine, message, engine}) => {
    if (engine && !found.engine) lines.begin(found.engine = engine);
    if (message) say(`${name}: ${message}`);
    if (row) found.rows.push(lines.add(row));
    if (cosine) found.cosines.push(lines.addCosine(cosine));
    if (tokenizing) found.tokenizing.push(lines.addTokenizing(tokenizing));
  };
  const tasks = [...(options.rounds > 0 ? [["measureMiniLm", options]] : []),
                 ...(isInt8 ? [["measureCosines", {peers, sentences: readSentences()}]] : [])];
  if (tasks.length > 0) await run({build, index, tasks}, report);
  for (const start of await startsIn(run, report)) found.starts.push(lines.addStart(start));
  return found;
}

// Measures how long a program takes from its start to the first vector. Each start happens in a new browser or a new
// process. The packages take turns.
async function startsIn(run, report) {
  const ofPeers = peers.filter(({name}) => name !== "ort_minilm")
      .flatMap(({name, forms}) => forms.map(form => ({who: name, form, found: []})));
  const ours = [...new Set(["float32", chosen.precision])].map(precision => ({who: "ladon", precision, found: []}));
  const ones = [...ours, ...ofPeers];
  for (let i = 0; i < Number(chosen.starts); ++i) {
    for (const {who, form, precision, found} of ones) {
      await run({build, index, tasks: [["startMiniLm", {who, form, precision, tokens: 11}]]}, ({start, ...said}) => {
        if (start) found.push(start.milliseconds);
        else report(said);
      });
    }
  }
  return ones.filter(({found}) => found.length > 0).map(({who, form, precision, found}) => ({who, form, precision,
      milliseconds:
      Object.fromEntries(Object.keys(found[0]).map(part => [part, spread(found.map(each => each[part]))]))}));
}

function readSentences() {
  const text = readFileSync(new URL("../../../tests/data/sentences.txt", import.meta.url), "utf8");
  return text.split("\n").filter(line => line !== "");
}
