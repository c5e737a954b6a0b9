// Runs the measurements in a worker of a page. The worker posts its reports to the page, which forwards them.
import {measure, measureInt8} from "./measure.mjs";
import {measureKeywords} from "./keywords/measure.mjs";
import {measureCosines, measureMiniLm, startMiniLm} from "./minilm/measure.mjs";
import {measureProducts} from "./products/measure.mjs";
import {measureStartUp} from "./startup.mjs";

const read = async path => {
  const response = await fetch(`/build/${path}`);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
};
const url = path => new URL(`/build/${path}`, location.href).href;
const host = {
  read, url,
  async peer(name) {
    const peer = await import(`/build/peers/${name}.browser.mjs`);
    await peer.start({read, url, folder: name => `/build/node_modules/${name}/`});
    return peer;
  },
  binding: (file = "index.js") => import(`/binding/${file}`),
};

self.onmessage = async ({data: {task, options}}) => {
  try {
    const tasks = {measure, measureStartUp, measureInt8, measureProducts, measureMiniLm, measureCosines, startMiniLm,
                   measureKeywords};
    await tasks[task](host, options, message => self.postMessage(message));
    self.postMessage({done: true});
  } catch (error) {
    self.postMessage({error: error.stack});
  }
};
