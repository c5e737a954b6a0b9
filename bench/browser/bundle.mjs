// The peers as a page would ship them: one minified file each, and what that weighs.
import {existsSync, readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {basename, join} from "node:path";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";

import {moduleOf} from "./measure.mjs";
import {kinds} from "./peak.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const needs = {
  ort: ["onnxruntime-web/dist/ort-wasm-simd-threaded.wasm"],
  tfjs: ["@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm"],
};
// What CommonJS has and a module of Node has not; TensorFlow.js asks for it.
const commonJs = `import {createRequire} from "node:module";
import {fileURLToPath} from "node:url";
const require = createRequire(import.meta.url), __filename = fileURLToPath(import.meta.url), __dirname =
  fileURLToPath(new URL(".", import.meta.url));`;

/** Writes peers/NAME.browser.mjs and peers/NAME.node.mjs; gives the names, and says which can't be had. */
export async function bundlePeers(build, say) {
  const modules = join(build, "node_modules");
  if (!existsSync(join(modules, "esbuild"))) {
    say("npm's packages are missing, so no peers are measured");
    return [];
  }
  const {build: bundle} = createRequire(join(build, "package.json"))("esbuild");
  const names = [];
  for (const [name, files] of Object.entries(needs)) {
    if (!files.every(file => existsSync(join(modules, file)))) {
      say(`${name} is left out: npm has not installed it`);
      continue;
    }
    try {
      for (const platform of ["browser", "node"]) {
        await bundle({
          entryPoints: [join(here, "peers", `${name}.mjs`)], outfile: join(build, "peers", `${name}.${platform}.mjs`),
          bundle: true, minify: platform === "browser", format: "esm", platform, nodePaths: [modules],
          logLevel: "silent", banner: platform === "node" ? {js: commonJs} : {},
        });
      }
      names.push(name);
    } catch (error) {
      say(`${name} is left out: ${error.message}`);
    }
  }
  return names;
}

/** Bytes and gzipped bytes of all that a page loads: modules, the binding, each peer's wasm and JavaScript. */
export function sizes(build, index, cases) {
  const of = path => {
    const bytes = readFileSync(path);
    return {bytes: bytes.length, gzipped: gzipSync(bytes, {level: 9}).length};
  };
  const ladon = Object.fromEntries(cases.flatMap(one => kinds.map(kind => moduleOf(one, kind)))
      .filter(path => existsSync(join(build, path))).map(path => [basename(path), of(join(build, path))]));
  const peers = Object.fromEntries(Object.entries(needs)
      .filter(([name]) => existsSync(join(build, "peers", `${name}.browser.mjs`)))
      .map(([name, [wasm]]) => [name, {wasm: of(join(build, "node_modules", wasm)),
                                       js: of(join(build, "peers", `${name}.browser.mjs`))}]));
  return {ladon, ...(existsSync(index) && {binding: of(index)}), peers};
}
