// bench.mjs --build FOLDER [--json FILE] [--markdown FILE] [--rounds N] [--shapes 64,128,4 ...] [--masks full causal]
//           [--node] [--no-chromium] [--no-start-up] [--milliseconds N] [--binding INDEX.js] [--precision int8]
// Measures attention in Ladon and in other packages. With --precision int8, measures two other things instead:
// attention in Ladon with int8 and with float32 weights, and matrix products in Ladon and in other packages. `./dev
// bench browser` makes FOLDER and runs this program.
import {existsSync, readFileSync} from "node:fs";
import {resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {parseArgs} from "node:util";

import {bundlePeers, bundleProductPeers, sizes} from "./bundle.mjs";
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
    "no-start-up": {type: "boolean", default: false}, precision: {type: "string", default: "float32"},
  },
});
checkReplaceable(chosen.json, chosen.markdown);
const asked = [...(chosen.shapes ?? []), ...positionals];  // in `--shapes 16,32,4 64,128,4`, 64,128,4 is positional
for (const shape of asked) {
  if (shapes.some(one => one.join() === shape)) continue;
  console.error(`bench: there is no shape ${shape}; there are ${shapes.join(" ")}`);
  process.exit(2);
}
if (!["float32", "int8"].includes(chosen.precision)) {
  console.error(`bench: there is no precision ${chosen.precision}; there are float32 and int8`);
  process.exit(2);
}
const isInt8 = chosen.precision === "int8";
const cases = shapes.filter(shape => asked.length === 0 || asked.includes(shape.join())).flatMap(
    ([tokens, model, heads]) => (chosen.masks ?? ["full", "causal"]).map(mask => ({tokens, model, heads, mask})));
const build = resolve(chosen.build);
const index = resolve(chosen.binding ?? fileURLToPath(new URL("../../wasm/dist/index.js", import.meta.url)));
const withBinding = existsSync(index);

const say = text => console.error(`bench: ${text}`);
const peers = await (isInt8 ? bundleProductPeers : bundlePeers)(build, say);
if (!withBinding) say(`the binding is left out, ./dev wasm makes it: ${index}`);

const environments = [...(chosen["no-chromium"] ? [] : [["Chromium", inChromium]]),
                      ...(chosen.node ? [["Node", inNode]] : [])];
const all = {machine: machine(), precision: chosen.precision, sizes: sizes(build, index, cases, chosen.precision),
             environments: []};
for (const [name, run] of environments) {
  const figures = {name, rows: [], products: [], start_up: []};
  const table = new Table();
  const report = ({row, product, startup, message, engine}) => {
    if (engine) table.begin(figures.engine = engine);
    if (message) say(`${name}: ${message}`);
    if (row) figures.rows.push(table.add(row));
    if (product) figures.products.push(table.addProduct(product));
    if (startup) figures.start_up.push(table.addStartUp(startup));
  };
  try {
    await run({build, index, tasks: tasksOf()}, report);
    all.environments.push(figures);
  } catch (error) {
    say(`${name}: ${error.message}`);
    process.exitCode = 1;
  }
}
console.log(Table.sizes(all.sizes));
if (chosen.json) replaceFile(chosen.json, `${JSON.stringify(all, null, 1)}\n`);
if (chosen.markdown) replaceFile(chosen.markdown, markdown(all));

function tasksOf() {
  const options = {cases, rounds: Number(chosen.rounds), milliseconds: Number(chosen.milliseconds), peers, withBinding};
  if (isInt8) return [["measureProducts", options], ["measureInt8", options]];
  const fullOnes = cases.filter(({mask}) => mask === "full");
  return [...(chosen["no-start-up"] ? [] : [["measureStartUp", {cases: fullOnes}]]), ["measure", options]];
}
