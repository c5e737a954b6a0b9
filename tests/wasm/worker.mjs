// Runs the test program in a worker of Chromium. A function of WASI must return its result synchronously, and only a
// worker can wait synchronously for an answer of the server (chromium.mjs).
import {run} from './wasi.mjs';

function ask(what, of, type, body) {
  const request = new XMLHttpRequest();
  request.open(body === undefined ? 'GET' : 'POST', `${what}?of=${encodeURIComponent(of)}`, false);
  request.responseType = type;
  request.send(body);
  if (request.status !== 200) throw new Error(`${what} ${of}: ${request.status}`);
  return request.response;
}

const files = {
  status: (path) => ask('status', path, 'json') ?? undefined,
  read: (path) => new Uint8Array(ask('read', path, 'arraybuffer')),
  list: (path) => ask('list', path, 'json'),
};
const write = (fd, bytes) => ask('write', fd, 'text', bytes);

let code = 1;
try {
  const task = await (await fetch('task.json')).json();
  const module = await WebAssembly.compileStreaming(fetch('program.wasm'));
  code = await run(module, {...task, files, write});
} catch (problem) {
  write(2, new TextEncoder().encode(`${problem.stack ?? problem}\n`));
}
ask('exit', code, 'text', '');
