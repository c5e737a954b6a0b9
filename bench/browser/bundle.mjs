// Bundles each peer (a package that Ladon is compared with) into one minified file, because web pages load bundles.
// Also measures the sizes of all files that a page loads.
import {existsSync, readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {basename, dirname, join, relative} from "node:path";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";

import {moduleOf} from "./measure.mjs";
import {kinds} from "../../wasm/engine/peak.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const attentionNeeds = {
  ort: ["onnxruntime-web/dist/ort-wasm-simd-threaded.wasm"],
  tfjs: ["@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm"],
};
const productNeeds = {
  ort: attentionNeeds.ort,
  litert: ["@litertjs/core/wasm/litert_wasm_internal.wasm", "flatbuffers/package.json"],
};
// TensorFlow.js uses `require`, `__filename` and `__dirname` of CommonJS. ES modules in Node do not have these names,
// so bundles for Node begin with these definitions.
const commonJs = `import {createRequire} from "node:module";
import {fileURLToPath} from "node:url";
const require = createRequire(import.meta.url), __filename = fileURLToPath(import.meta.url), __dirname =
  fileURLToPath(new URL(".", import.meta.url));`;

/**
 * Bundles each peer (package) that computes attention. Writes peers/NAME.browser.mjs for browsers and
 * peers/NAME.node.mjs for Node. Returns the names of the bundled peers. Calls `say` for each peer whose npm packages
 * are not installed.
 */
export const bundlePeers = (build, say) => bundleNamed(attentionNeeds, build, say);

/** Like bundlePeers, but bundles the peers that compute the 12 matrix products of products/numbers.mjs. */
export const bundleProductPeers = (build, say) => bundleNamed(productNeeds, build, say);

const bundleNamed = (needsOf, build, say) =>
    bundleAll(build, say, Object.entries(needsOf).map(([name, needs]) => ({name, source: name, needs})));

/** Bundles ort_minilm.mjs, the peer that runs MiniLM in ONNX Runtime Web without transformers.js. */
export const bundleOrtMiniLm = (build, say) => bundleNamed({ort_minilm: attentionNeeds.ort}, build, say);

/** Bundles litert_keywords.mjs, the peer that runs KWT-1 in LiteRT.js. */
export const bundleKeywords = (build, say) => bundleNamed({litert_keywords: productNeeds.litert}, build, say);

/**
 * Bundles transformers.js twice: with the published ONNX Runtime Web, which supports WebGPU, and with the smaller ONNX
 * Runtime Web without WebGPU. Returns {NAME: PATH} with an entry for each bundle that was made. PATH is the path of the
 * wasm file that the bundle loads, relative to the folder `build`.
 */
export async function bundleTransformers(build, say) {
  const folder = join(build, "node_modules/@huggingface/transformers");
  if (!existsSync(join(folder, "package.json"))) {
    say("transformers.js is left out: npm has not installed it");
    return {};
  }
  const ort = dirname(createRequire(join(folder, "package.json")).resolve("onnxruntime-web/wasm"));
  const wasm = kind => relative(build, join(ort, `ort-wasm-simd-threaded${kind}.wasm`));
  const paths = {transformers: wasm(".asyncify"), transformers_wasm_only: wasm("")};
  // In Node, transformers.js would run native code instead of wasm. So the bundle for Node contains
  // transformers.web.js, the file for browsers. With the `define` below, transformers.web.js does not notice that it
  // runs in Node.
  const web = {"@huggingface/transformers": join(folder, "dist/transformers.web.js")};
  const wasmOnly = {"onnxruntime-web/webgpu": join(ort, "ort.wasm.bundle.min.mjs")};
  const names = await bundleAll(build, say, Object.entries(paths).map(([name, path]) => ({
    name, source: "transformers", needs: [], alias: {...web, ...(name === "transformers" ? {} : wasmOnly)},
    define: {ORT_WASM: JSON.stringify(path), "process.release.name": '"none"'},
  })));
  return Object.fromEntries(names.map(name => [name, paths[name]]));
}

async function bundleAll(build, say, peers) {
  const modules = join(build, "node_modules");
  if (!existsSync(join(modules, "esbuild"))) {
    say("the npm packages are missing, so no peers are measured");
    return [];
  }
  const {build: bundle} = createRequire(join(build, "package.json"))("esbuild");
  const names = [];
  for (const {name, source, needs, ...settings} of peers) {
    if (!needs.every(file => existsSync(join(modules, file)))) {
      say(`${name} is left out: npm has not installed it`);
      continue;
    }
    try {
      for (const platform of ["browser", "node"]) {
        await bundle({
          entryPoints: [join(here, "peers", `${source}.mjs`)], outfile: join(build, "peers", `${name}.${platform}.mjs`),
          bundle: true, minify: platform === "browser", format: "esm", platform, nodePaths: [modules],
          logLevel: "silent", banner: platform === "node" ? {js: commonJs} : {}, ...settings,
        });
      }
      names.push(name);
    } catch (error) {
      say(`${name} is left out: ${error.message}`);
    }
  }
  return names;
}

/** Returns {bytes, gzipped} of a file. */
export function weigh(path) {
  const bytes = readFileSync(path);
  return {bytes: bytes.length, gzipped: gzipSync(bytes, {level: 9}).length};
}

/**
 * Returns the bytes and gzipped bytes of all files that a page loads: modules, the binding, and the wasm and JavaScript
 * of each peer.
 */
export function sizes(build, index, cases, precision) {
  const ladon = Object.fromEntries(cases.flatMap(one => kinds.map(kind => moduleOf(one, kind, precision)))
      .filter(path => existsSync(join(build, path))).map(path => [basename(path), weigh(join(build, path))]));
  const peers = Object.fromEntries(Object.entries(precision === "int8" ? productNeeds : attentionNeeds)
      .filter(([name]) => existsSync(join(build, "peers", `${name}.browser.mjs`)))
      .map(([name, [wasm]]) => [name, {wasm: weigh(join(build, "node_modules", wasm)),
                                       js: weigh(join(build, "peers", `${name}.browser.mjs`))}]));
  return {ladon, ...(existsSync(index) && {binding: weigh(join(dirname(index), "core.js"))}), peers};
}
