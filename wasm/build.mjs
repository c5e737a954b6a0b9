// Makes dist/: one minified file for each entry of the package, with its source map, and the types by tsc. The modules
// in dist/modules are made by CMake (`./dev wasm` in the repository).
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { minify } from "terser";
import { dateReaderSafetensors } from "./tools/date-reader-weights.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const parts = ["index", "other-kernels", "load-again", "safetensors", "warm-up"];
const entries = [...parts, "date-reader", "minilm"].filter((name) => existsSync(here(`src/${name}.ts`)));

// All files share one class LadonError, index.js's, which loads others when they are needed.
const apart = {
  name: "apart",
  setup({ onResolve }) {
    const filter = new RegExp(`^\\./(${parts.join("|")})\\.js$`);
    onResolve({ filter }, ({ path }) => ({ path, external: true }));
  },
};
const errorsOfIndex = {
  name: "errors-of-index",
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]errors\.ts$/ }, () => ({
      contents: `import { LadonError } from "./index.js";
        export { LadonError };
        export const fail = (...about) => { throw new LadonError(...about); };`,
    }));
  },
};

// Properties of what the package's files pass to each other and to nobody else: in all of them they get the same short
// names, 2% of index.js, gzipped. No public type has one of these, nor has a file's header or a module's section.
const inner = new RegExp(
  `^(${[
    ...["adopt", "alive", "begin", "bytes", "floats", "freeOffset", "give", "inputs", "known", "ownRows", "put"],
    ...["refuse", "slots", "spell", "splitPacked", "stop", "take", "usualKeys"],
  ].join("|")})$`,
);
let innerNames = {};

mkdirSync(here("dist"), { recursive: true });
for (const entry of entries) {
  const { outputFiles, mangleCache } = await build({
    entryPoints: [here(`src/${entry}.ts`)],
    outdir: here("dist"),
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    platform: "neutral",
    sourcemap: true,
    mangleProps: inner,
    mangleCache: innerNames,
    plugins: entry === "index" ? [apart] : [apart, errorsOfIndex],
    logLevel: "warning",
    write: false,
  });
  innerNames = mangleCache;
  const written = (end) => outputFiles.find(({ path }) => path.endsWith(end)).text;
  // Terser names the variables of all functions alike, from the first letter on: 4% less of index.js, gzipped. It may
  // not inline functions, for bundlers must see the URLs of modules.
  const { code, map } = await minify(written(".js"), {
    module: true,
    compress: { ecma: 2020, passes: 3, inline: 0, reduce_funcs: false },
    sourceMap: { content: written(".js.map"), url: `${entry}.js.map` },
  });
  writeFileSync(here(`dist/${entry}.js`), code);
  writeFileSync(here(`dist/${entry}.js.map`), map);
}
execFileSync(
  process.execPath,
  [createRequire(import.meta.url).resolve("typescript/bin/tsc"), "-p", here("tsconfig.json")],
  {
    stdio: "inherit",
  },
);
mkdirSync(here("dist/models"), { recursive: true });
const arrays = readFileSync(here("../examples/date_reader/weights.hpp"), "utf8");
writeFileSync(here("dist/models/date_reader.safetensors"), dateReaderSafetensors(arrays));
if (existsSync(here("../LICENSE"))) copyFileSync(here("../LICENSE"), here("LICENSE"));

for (const name of entries) {
  const bytes = readFileSync(here(`dist/${name}.js`));
  console.log(`dist/${name}.js ${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} gzipped`);
}
