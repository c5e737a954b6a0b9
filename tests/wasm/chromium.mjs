// Runs a test program in headless Chromium. A server on the loopback address sends the page, the program and its input
// files, and receives the output and the exit status.
import {spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const browser = process.env.LADON_CHROMIUM ?? '/usr/bin/chromium';
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--no-proxy-server',
               '--disable-background-networking', '--disable-component-update', '--disable-sync'];
const own = (name) => readFileSync(new URL(name, import.meta.url));

async function bodyOf(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

// Removes the browser's profile folder, in up to 50 attempts. An attempt may fail, because processes of the browser may
// still write to the folder after the main process has ended.
async function remove(folder) {
  for (let i = 0; i < 50; ++i) {
    try {
      return rmSync(folder, {recursive: true, force: true});
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

export function runInChromium(program, {args, environment, files, write}) {
  const profile = mkdtempSync(join(tmpdir(), 'ladon-chromium-'));
  let child;
  return new Promise((resolve, reject) => {
    const answers = {
      '/': () => ['text/html', '<!doctype html><script>new Worker("worker.mjs", {type: "module"})</script>'],
      '/worker.mjs': () => ['text/javascript', own('worker.mjs')],
      '/wasi.mjs': () => ['text/javascript', own('wasi.mjs')],
      '/program.wasm': () => ['application/wasm', program],
      '/task.json': () => ['application/json', JSON.stringify({args, environment})],
      '/status': (path) => ['application/json', JSON.stringify(files.status(path) ?? null)],
      '/list': (path) => ['application/json', JSON.stringify(files.list(path))],
      '/read': (path) => ['application/octet-stream', files.read(path)],
      '/write': (fd, body) => ['text/plain', (write(Number(fd), body), '')],
      '/exit': (code) => ['text/plain', (resolve(Number(code)), '')],
    };
    const server = createServer(async (request, response) => {
      const {pathname, searchParams} = new URL(request.url, 'http://localhost');
      try {
        const [kind, content] = answers[pathname](searchParams.get('of'), await bodyOf(request));
        response.writeHead(200, {'content-type': kind}).end(content);
      } catch (problem) {
        response.writeHead(404).end(String(problem));
      }
    });
    server.listen(0, '127.0.0.1', () => {
      const page = `http://127.0.0.1:${server.address().port}/`;
      // `page` stays open until the program has ended. Without an open page, the headless browser would exit.
      child = spawn(browser, [...flags, '--remote-debugging-port=0', `--user-data-dir=${profile}`, page],
                    {stdio: ['ignore', 'ignore', 'pipe']});
      let said = '';
      child.stderr.on('data', (text) => said += text);
      child.on('error', (problem) => reject(new Error(`${browser} does not start: ${problem.message}`)));
      child.on('exit', (code) => {
        server.close();
        server.closeAllConnections?.();
        remove(profile);
        reject(new Error(`${browser} ended (${code}) before the program did:\n${said}`)); // ignored if already resolved
      });
    });
  }).finally(() => child?.kill());
}
