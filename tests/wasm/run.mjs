// node run.mjs PROGRAM.wasm [ARGS...]: runs a test program, and exits with its status. With LADON_WASM_HOST=chromium,
// the program runs in Chromium. The program also runs in Chromium if this Node does not support it (Node 18 has no
// relaxed SIMD).
import {readFileSync, readdirSync, statSync, writeSync} from 'node:fs';

import '../../wasm/engine/relaxed_simd.mjs';
import {runInChromium} from './chromium.mjs';
import {run} from './wasi.mjs';

globalThis.crypto ??= (await import('node:crypto')).webcrypto; // Node 18 does not define crypto globally

export const files = {
  status(path) {
    const status = statSync(path, {throwIfNoEntry: false});
    return status && {folder: status.isDirectory(), size: status.size};
  },
  read: (path) => readFileSync(path),
  list: (path) => readdirSync(path).sort(),
};

const write = (fd, bytes) => {
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (problem) {
      if (problem.code !== 'EAGAIN') throw problem; // the pipe is full
    }
  }
};

const [program, ...args] = process.argv.slice(2);
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => name.startsWith('LADON_') && name !== 'LADON_WASM_HOST'));
const content = readFileSync(program);
const what = {args: [program, ...args], environment, files, write};
try {
  const inChromium = process.env.LADON_WASM_HOST === 'chromium' || !WebAssembly.validate(content);
  process.exitCode = await (inChromium ? runInChromium(content, what) : run(new WebAssembly.Module(content), what));
} catch (problem) {
  console.error(`${program}: ${problem.stack ?? problem}`);
  process.exitCode = 1;
}
