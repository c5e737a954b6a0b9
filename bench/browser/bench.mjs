// bench.mjs --build FOLDER [--json FILE] [--markdown FILE] [--rounds N] [--shapes 64,128,4 ...] [--masks full causal]
//           [--node] [--no-chromium] [--no-start-up] [--milliseconds N] [--binding INDEX.js]
// `./dev bench browser` makes the folder and runs this.
import {existsSync, readFileSync} from "node:fs";
import {resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {parseArgs} from "node:util";

import {bundlePeers, sizes} from "./bundle.mjs";
import {inChromium} from "./in_chromium.mjs";
import {inNode} from "./in_node.mjs";
import {machine, markdown, Table} from "./report.mjs";
import {checkReplaceable, replaceFile} from "./whole_file.mjs";

const {browser: shapes} = JSON.parse(readFileSync(new URL("../shapes.json", import.meta.url), "utf8"));

const {values: chosen, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    build: {type: "string"}, binding: {type: "string"}, json: {type: "string"}, markdown: {type: "string"},
    rounds: {type: "string", default: "31"}, milliseconds: {type: "string", default: "2"},
    shapes: {type: "string", multiple: true}, masks: {type: "string", multiple: true},
    node: {type: "boolean", default: false}, "no-chromium": {type: "boolean", default: false},
    "no-start-up": {type: "boolean", default: false},
  },
});
checkReplaceable(chosen.json, chosen.markdown);
const asked = [...(chosen.shapes ?? []), ...positionals];  // --shapes 16,32,4 64,128,4
for (const shape of asked) {
  if (shapes.some(one => one.join() === shape)) continue;
  console.error(`bench: there is no shape ${shape}; there are ${shapes.join(" ")}`);
  process.exit(2);
}
const cases = shapes.filter(shape => asked.length === 0 || asked.includes(shape.join())).flatMap(
    ([tokens, model, heads]) => (chosen.masks ?? ["full", "causal"]).map(mask => ({tokens, model, heads, mask})));
const build = resolve(chosen.build);
const index = resolve(chosen.binding ?? fileURLToPath(new URL("../../wasm/dist/index.js", import.meta.url)));
const withBinding = existsSync(index);

const say = text => console.error(`bench: ${text}`);
const peers = await bundlePeers(build, say);
if (!withBinding) say(`the binding is left out, ./dev wasm makes it: ${index}`);

const environments = [...(chosen["no-chromium"] ? [] : [["Chromium", inChromium]]),
                      ...(chosen.node ? [["Node", inNode]] : [])];
const all = {machine: machine(), sizes: sizes(build, index, cases), environments: []};
for (const [name, run] of environments) {
  const figures = {name, rows: [], start_up: []};
  const table = new Table();
  const report = ({row, startup, message, engine}) => {
    if (engine) table.begin(figures.engine = engine);
    if (message) say(`${name}: ${message}`);
    if (row) figures.rows.push(table.add(row));
    if (startup) figures.start_up.push(table.addStartUp(startup));
  };
  const tasks = [["measure", {cases, rounds: Number(chosen.rounds), milliseconds: Number(chosen.milliseconds),
                              peers, withBinding}]];
  const fullOnes = cases.filter(({mask}) => mask === "full");
  if (!chosen["no-start-up"]) tasks.unshift(["measureStartUp", {cases: fullOnes}]);
  try {
    await run({build, index, tasks}, report);
    all.environments.push(figures);
  } catch (error) {
    say(`${name}: ${error.message}`);
    process.exitCode = 1;
  }
}
console.log(Table.sizes(all.sizes));
if (chosen.json) replaceFile(chosen.json, `${JSON.stringify(all, null, 1)}\n`);
if (chosen.markdown) replaceFile(chosen.markdown, markdown(all));
