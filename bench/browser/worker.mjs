// The thread of a page that measures; the page passes on what it reports.
import {measure} from "./measure.mjs";
import {measureStartUp} from "./startup.mjs";

const read = async path => {
  const response = await fetch(`/build/${path}`);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
};
const host = {
  read,
  async peer(name) {
    const peer = await import(`/build/peers/${name}.browser.mjs`);
    await peer.start({read, folder: name => `/build/node_modules/${name}/`});
    return peer;
  },
  binding: () => import("/binding/index.js"),
};

self.onmessage = async ({data: {task, options}}) => {
  try {
    await {measure, measureStartUp}[task](host, options, message => self.postMessage(message));
    self.postMessage({done: true});
  } catch (error) {
    self.postMessage({error: error.stack});
  }
};
