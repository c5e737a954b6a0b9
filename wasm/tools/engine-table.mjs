// node engine-table.mjs [--write]: runs the package in each engine that is installed, and prints a table of what `load`
// chooses there. With --write, replaces the table in docs/platforms.md, whose order is that of `engines`. The engines
// are those of tests/engines and tests/consumers/runtimes (npm ci --ignore-scripts), Chromium, Firefox and WebKitGTK. An engine
// that is not installed is named on the standard error, and has no row.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { serve } from "./serve.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const page = here("../../docs/platforms.md");
const probe = here("../tests/engines/probe.mjs");
const isolation = { "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" };

const inProgram = (path, ...args) => {
  const program = here(`../tests/${path}`);
  return { program, ask: () => JSON.parse(execFileSync(program, [...args, probe], { encoding: "utf8" })) };
};

const inBrowser = async (name) => {
  const { program, start } = await import(`../tests/browsers/${name}.mjs`);
  const ask = async () => {
    const { url, close, server } = await serve(here(".."), { headers: isolation });
    const driver = await start();
    try {
      await driver.open(`${url}tests/browsers/blank.html`);
      return await driver.run(`const { probe, version } = await import("${url}tests/engines/probe.mjs");
        return { engine: version(), ...(await probe()) };`);
    } finally {
      await driver.stop();
      close();
      server.closeAllConnections?.();
    }
  };
  return { program, ask };
};

const engines = [
  ...[18, 20, 22, 24, 26].map((major) => inProgram(`engines/node_modules/node-${major}/bin/node`)),
  inProgram("consumers/runtimes/node_modules/@deno/linux-x64-glibc/deno", "run", "--cached-only", "--allow-read"),
  inProgram("consumers/runtimes/node_modules/@oven/bun-linux-x64/bin/bun", "run", "--no-install"),
  await inBrowser("chromium"),
  await inBrowser("firefox"),
  await inBrowser("webkit"),
];

const rows = [];
for (const { program, ask } of engines) {
  if (!existsSync(program)) {
    console.error(`there is no ${program}`);
    continue;
  }
  const { engine, float32, int8, bits, dot, threads } = await ask();
  rows.push(`| ${engine} | \`${float32}\` | \`${int8}\`, ${bits} bits | ${dot} | ${threads} |`);
}

const hasVnni = /\bavx_vnni\b/.test(readFileSync("/proc/cpuinfo", "utf8"));
const table = `| engine, on x86-64 ${hasVnni ? "with" : "without"} AVX-VNNI | float32 | int8 | relaxed dot product | threads |
|---|---|---|---|---|
${rows.join("\n")}
`;
if (process.argv.includes("--write")) {
  const text = readFileSync(page, "utf8");
  const written = text.replace(/(<!-- engines -->\n)[^]*?(?=<!-- \/engines -->)/, (_, begin) => begin + table);
  if (!written.includes(table)) throw new Error(`${page} has no place for the table: <!-- engines --> ... <!-- /engines -->`);
  writeFileSync(page, written);
} else {
  process.stdout.write(table);
}
