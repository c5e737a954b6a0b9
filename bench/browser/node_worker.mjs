// Runs the measurements in a process of Node, as worker.mjs does in a page. Argument 1 is the folder of the build, and
// argument 2 is the package's index.js.
import {readFile} from "node:fs/promises";
import {dirname, join} from "node:path";
import {pathToFileURL} from "node:url";

import "../../wasm/engine/relaxed_simd.mjs";
import {measure, measureInt8} from "./measure.mjs";
import {measureKeywords} from "./keywords/measure.mjs";
import {measureCosines, measureMiniLm, startMiniLm} from "./minilm/measure.mjs";
import {measureProducts} from "./products/measure.mjs";
import {measureStartUp} from "./startup.mjs";

const [build, index] = process.argv.slice(2);
const read = async path => new Uint8Array(await readFile(join(build, path)));
const url = path => pathToFileURL(join(build, path)).href;
const host = {
  read, url,
  async peer(name) {
    const peer = await import(pathToFileURL(join(build, `peers/${name}.node.mjs`)));
    await peer.start({read, url, folder: name => `${join(build, "node_modules", name)}/`});
    return peer;
  },
  binding: (file = "index.js") => import(pathToFileURL(join(dirname(index), file))),
};

process.on("message", async ({task, options}) => {
  try {
    const tasks = {measure, measureStartUp, measureInt8, measureProducts, measureMiniLm, measureCosines, startMiniLm,
                   measureKeywords};
    await tasks[task](host, options, message => process.send(message));
    process.send({done: true});
  } catch (error) {
    process.send({error: error.stack});
  }
});
process.on("disconnect", () => process.exit(1));  // ends with the parent process
