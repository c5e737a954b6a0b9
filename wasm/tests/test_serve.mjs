// Tests the server of static files. If the server cannot send a file, it sends a status and continues to serve.
import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { serve } from "../tools/serve.mjs";

const folder = mkdtempSync(join(tmpdir(), "ladon-serve-"));
const large = 5e6;
let site;
before(async () => {
  chmodSync(folder, 0o755);
  for (const name of ["open", "closed", "shut"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "index.html"), "<!doctype html>");
  writeFileSync(join(folder, "open/a.txt"), "a");
  writeFileSync(join(folder, "open/empty.txt"), "");
  writeFileSync(join(folder, "open/secret.txt"), "secret", { mode: 0 });
  writeFileSync(join(folder, "open/large.wasm"), new Uint8Array(large));
  writeFileSync(join(folder, "closed/a.txt"), "a");
  chmodSync(join(folder, "closed"), 0);
  site = await serve(folder);
});
after(() => {
  site.close();
  chmodSync(join(folder, "closed"), 0o755);
  rmSync(folder, { recursive: true });
});

/**
 * Runs `act` as a user who may not read the files. If the test runs as root, it becomes another user, because root may
 * read all files.
 */
const asUser = async (act) => {
  const isRoot = process.geteuid() === 0;
  if (isRoot) process.seteuid(65534);
  try {
    return await act();
  } finally {
    if (isRoot) process.seteuid(0);
  }
};
const statusOf = async (path, method = "GET") => (await fetch(`${site.url}${path}`, { method })).status;
const isServed = async () => {
  const response = await fetch(`${site.url}open/a.txt`);
  assert.equal(response.status, 200);
  assert.equal(await response.text(), "a");
};

test("files without permission are forbidden, and the server continues", { skip: !process.geteuid }, () =>
  asUser(async () => {
    for (const method of ["GET", "HEAD"]) {
      for (const path of ["open/secret.txt", "closed/a.txt", "closed/"]) {
        assert.equal(await statusOf(path, method), 403, `${method} ${path}`);
        await isServed();
      }
    }
  }),
);

test("a status for each path", async () => {
  for (const [path, status] of [
    ["", 200],
    ["open/empty.txt", 200],
    ["nothing", 404],
    ["open", 404],
    ["open/", 404],
    ["open/a.txt/b", 404],
    [`${"n".repeat(5000)}`, 404],
    ["%00", 404],
    ["%ff", 400],
    ["%2e%2e/%2e%2e/etc/hostname", 404],
  ]) {
    assert.equal(await statusOf(path), status, path.slice(0, 30));
    await isServed();
  }
  assert.equal(await (await fetch(site.url)).text(), "<!doctype html>");
  const whole = await fetch(`${site.url}open/large.wasm`);
  assert.equal(whole.headers.get("content-type"), "application/wasm");
  assert.equal((await whole.arrayBuffer()).byteLength, large);
});

test("a client that disconnects in the middle of a file", async () => {
  for (let i = 0; i < 5; ++i) {
    const request = get(`${site.url}open/large.wasm`);
    const [response] = await once(request, "response");
    await once(response, "data");
    request.destroy();
    await once(request, "close");
    await isServed();
  }
});
