// node serve.mjs [FOLDER] [PORT]: serves a folder of static files on this machine only, for tests and for a look at the
// page. Any other server of static files works, too.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const types = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".mjs": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
};

/** Serves a folder below a path such as "/" or "/some/where/". Every response has the `headers`. */
export async function serve(folder, { port = 0, path = "/", headers = {} } = {}) {
  const server = createServer(async (request, response) => {
    const refuse = (status) => response.writeHead(status, { "content-type": "text/plain" }).end(`${status}\n`);
    try {
      const place = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
      if (!place.startsWith(path)) return refuse(404);
      let file = join(folder, normalize(`/${place.slice(path.length)}`));
      if (place.endsWith("/")) file = join(file, "index.html");
      const found = await stat(file).catch(() => undefined);
      if (!found?.isFile()) return refuse(404);
      const type = types[extname(file)] ?? "application/octet-stream";
      response.writeHead(200, {
        "content-type": type,
        "content-length": found.size,
        "cache-control": "no-cache",
        ...headers,
      });
      if (request.method === "HEAD") return response.end();
      createReadStream(file).pipe(response);
    } catch {
      refuse(400);
    }
  });
  await new Promise((ready, fail) => server.once("error", fail).listen(port, "127.0.0.1", ready));
  return { server, url: `http://localhost:${server.address().port}${path}`, close: () => server.close() };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder = fileURLToPath(new URL("../dist/demo", import.meta.url)), port = "8080"] = process.argv.slice(2);
  const { url } = await serve(folder, { port: Number(port) });
  process.stdout.write(`${url}\n`);
}
