// bench.mjs --build FOLDER --model FOLDER [--json FILE] [--markdown FILE] [--rounds N] [--parts chain model] [--node]
//           [--no-chromium] [--milliseconds N] [--binding INDEX.js] [--precision float32|int8]
// Measures KWT-1 in the npm package and in LiteRT.js, by default in both precisions. `./dev bench browser --keywords`
// makes the folders and runs this program. The folder of the model has kwt1.safetensors and the recordings
// {yes,no,noise,silence}_1000ms.wav.
import {cpSync, existsSync, mkdirSync, readFileSync} from "node:fs";
import {dirname, join, resolve} from "node:path";
import {fileURLToPath} from "node:url";
import {parseArgs} from "node:util";

import {bundleKeywords} from "../bundle.mjs";
import {inChromium} from "../in_chromium.mjs";
import {inNode} from "../in_node.mjs";
import {machine} from "../report.mjs";
import {checkReplaceable, replaceFile} from "../whole_file.mjs";
import {Lines, markdown} from "./report.mjs";

const {values: chosen, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    build: {type: "string"}, model: {type: "string"}, binding: {type: "string"}, json: {type: "string"},
    markdown: {type: "string"}, rounds: {type: "string", default: "31"}, milliseconds: {type: "string", default: "5"},
    parts: {type: "string", multiple: true}, node: {type: "boolean", default: false},
    "no-chromium": {type: "boolean", default: false}, keywords: {type: "boolean"}, precision: {type: "string"},
  },
});
checkReplaceable(chosen.json, chosen.markdown);
const say = text => console.error(`bench: ${text}`);
const stop = text => {
  say(text);
  process.exit(2);
};
const allOf = (all, name, given) => {
  if (!given.every(one => all.includes(one))) stop(`${name} are ${all.join(" and ")}`);
  return given.length > 0 ? given : all;
};
const parts = allOf(["chain", "model"], "--parts", [...(chosen.parts ?? []), ...positionals]);
const precisions = allOf(["float32", "int8"], "precisions", chosen.precision ? [chosen.precision] : []);
const build = resolve(chosen.build);
const index = resolve(chosen.binding ?? fileURLToPath(new URL("../../../wasm/dist/index.js", import.meta.url)));
if (!existsSync(join(index, "../keywords.js"))) stop(`there is no package, ./dev wasm makes it: ${index}`);

// Copies the model and the modules of the front end into the folder `keywords` of the build folder. measure.mjs reads
// the copies.
const files = join(build, "keywords");
mkdirSync(files, {recursive: true});
const copy = (from, name) => {
  if (!existsSync(join(from, name))) stop(`there is no ${join(from, name)}`);
  cpSync(join(from, name), join(files, name), {force: true, dereference: true});
};
copy(chosen.model, "kwt1.safetensors");
for (const kind of ["simd", "scalar"]) copy(join(dirname(index), "modules"), `keywords_front_end.${kind}.wasm`);
const bundled = await bundleKeywords(build, say);
const peers = parts.flatMap(part => precisions.map(precision => ({part, precision, file: `keywords/${part}.${precision}.tflite`})))
    .filter(({file, part, precision}) => {
      if (bundled.length > 0 && existsSync(join(build, file))) return true;
      say(`LiteRT.js, ${precision}, ${part}, is left out: there is no ${file}`);
      return false;
    });

const all = {machine: machine(), environments: []};
for (const [name, run] of [...(chosen["no-chromium"] ? [] : [["Chromium", inChromium]]),
                           ...(chosen.node ? [["Node", inNode]] : [])]) {
  const found = {name, rows: []}, lines = new Lines();
  const options = {windows: await windowsOf(), parts, precisions, peers, rounds: Number(chosen.rounds),
                   milliseconds: Number(chosen.milliseconds)};
  try {
    await run({build, index, tasks: [["measureKeywords", options]]}, ({row, message, engine}) => {
      if (engine) lines.begin(found.engine = engine);
      if (message) say(`${name}: ${message}`);
      if (row) found.rows.push(lines.add(row));
    });
    all.environments.push(found);
  } catch (error) {
    say(`${name}: ${error.message}`);
    process.exitCode = 1;
  }
}
if (chosen.json) replaceFile(chosen.json, `${JSON.stringify(all, null, 1)}\n`);
if (chosen.markdown) replaceFile(chosen.markdown, markdown(all));

/** Returns the recordings with their features, which the front end of the package computes. */
async function windowsOf() {
  const names = ["yes", "no", "noise", "silence"].map(name => `${name}_1000ms.wav`);
  const module = new WebAssembly.Module(readFileSync(join(files, "keywords_front_end.scalar.wasm")));
  return names.map(name => {
    const bytes = readFileSync(join(chosen.model, name));
    const samples = Array.from({length: 16000}, (_, i) => bytes.readInt16LE(44 + 2 * i) / 32768);
    const {exports} = new WebAssembly.Instance(module);
    exports._initialize();
    new Float32Array(exports.memory.buffer, exports.samples(), 16000).set(samples);
    exports.compute_features(98);
    return {name, samples, features: [...new Float32Array(exports.memory.buffer, exports.features(), 98 * 40)]};
  });
}
