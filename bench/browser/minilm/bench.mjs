// bench.mjs --build FOLDER --model FOLDER [--json FILE] [--markdown FILE] [--rounds N] [--tokens 8 ...] [--starts N]
//           [--node] [--no-chromium] [--milliseconds N] [--binding INDEX.js]; --rounds 0 measures starts alone.
// `./dev bench browser --minilm` makes the folders and runs this.
import {existsSync, mkdirSync, rmSync, symlinkSync} from "node:fs";
import {join, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {parseArgs} from "node:util";

import {bundleTransformers} from "../bundle.mjs";
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
  },
});
checkReplaceable(chosen.json, chosen.markdown);
const say = text => console.error(`bench: ${text}`);
const stop = text => {
  say(text);
  process.exit(2);
};
const tokens = [...(chosen.tokens ?? []), ...positionals].map(Number);  // --tokens 8 11
if (!tokens.every(count => Number.isInteger(count) && count >= 3 && count <= 128)) stop("--tokens are 3 to 128");
const build = resolve(chosen.build);
const index = resolve(chosen.binding ?? fileURLToPath(new URL("../../../wasm/dist/index.js", import.meta.url)));
if (!existsSync(join(index, "../minilm.js"))) stop(`there is no package, ./dev wasm makes it: ${index}`);
mkdirSync(join(build, "minilm"), {recursive: true});
for (const name of ["model.safetensors", "vocab.txt"]) {  // beside what transformers.js reads, for one server has all
  if (!existsSync(join(chosen.model, name))) stop(`there is no ${join(chosen.model, name)}`);
  rmSync(join(build, "minilm", name), {force: true});
  symlinkSync(resolve(chosen.model, name), join(build, "minilm", name));
}
const converted = existsSync(join(build, "minilm/tokenizer_config.json"));
if (!converted) say("transformers.js is left out: its files of the model are not made");
const peers = converted ? await bundleTransformers(build, say) : {};

const environments = [...(chosen["no-chromium"] ? [] : [["Chromium", inChromium]]),
                      ...(chosen.node ? [["Node", inNode]] : [])];
const all = {machine: machine(), sizes: sizes(build, index, peers), environments: []};
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
  const found = {name, rows: [], tokenizing: [], starts: []};
  const lines = new Lines();
  const options = {tokens: tokens.length > 0 ? tokens : [8, 11, 32, 128], rounds: Number(chosen.rounds),
                   milliseconds: Number(chosen.milliseconds), peers: Object.keys(peers)};
  const report = ({row, tokenizing, message, engine}) => {
    if (engine && !found.engine) lines.begin(found.engine = engine);
    if (message) say(`${name}: ${message}`);
    if (row) found.rows.push(lines.add(row));
    if (tokenizing) found.tokenizing.push(lines.addTokenizing(tokenizing));
  };
  if (options.rounds > 0) await run({build, index, tasks: [["measureMiniLm", options]]}, report);
  for (const start of await startsIn(run, report)) found.starts.push(lines.addStart(start));
  return found;
}

// Each start is one of a browser, or a process, of its own, and they take turns.
async function startsIn(run, report) {
  const forms = Object.keys(peers).flatMap(who => Object.keys(models).map(form => ({who, form, found: []})));
  const ones = [{who: "ladon", found: []}, ...forms];
  for (let i = 0; i < Number(chosen.starts); ++i) {
    for (const {who, form, found} of ones) {
      await run({build, index, tasks: [["startMiniLm", {who, form, tokens: 11}]]}, ({start, ...said}) => {
        if (start) found.push(start.milliseconds);
        else report(said);
      });
    }
  }
  return ones.filter(({found}) => found.length > 0).map(({who, form, found}) => ({who, form, milliseconds:
      Object.fromEntries(Object.keys(found[0]).map(part => [part, spread(found.map(each => each[part]))]))}));
}
