// node serve.mjs [FOLDER] [PORT]: serves a folder of static files on this machine only, for tests and for opening the
// page by hand. Any other server of static files works, too.
import { open, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { pipeline } from "node:stream/promises";
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

const statuses = {
  EACCES: 403,
  EPERM: 403,
  ELOOP: 404,
  ENAMETOOLONG: 404,
  ENOENT: 404,
  ENOTDIR: 404,
  ERR_INVALID_ARG_VALUE: 404, // a path with a zero byte
  ERR_INVALID_URL: 400,
};
const statusOf = (error) => statuses[error.code] ?? (error instanceof URIError ? 400 : 500);

/**
 * Opens a file. Returns undefined if the path is not a file. It may be a pipe, and opening a pipe would wait for
 * another program.
 */
const openFile = async (path) => ((await stat(path)).isFile() ? open(path) : undefined);

/** Serves a folder below a path such as "/" or "/some/where/". Every response has the `headers`. */
export async function serve(folder, { port = 0, path = "/", headers = {} } = {}) {
  const server = createServer(async (request, response) => {
    const refuse = (status) => response.writeHead(status, { "content-type": "text/plain" }).end(`${status}\n`);
    try {
      const place = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
      if (!place.startsWith(path)) return refuse(404);
      let file = join(folder, normalize(`/${place.slice(path.length)}`));
      if (place.endsWith("/")) file = join(file, "index.html");
      const opened = await openFile(file);
      if (!opened) return refuse(404);
      const content = opened.createReadStream(); // closes the file at its end
      const type = types[extname(file)] ?? "application/octet-stream";
      response.writeHead(200, {
        "content-type": type,
        "content-length": (await opened.stat()).size,
        "cache-control": "no-cache",
        ...headers,
      });
      await pipeline(content, response); // a response to HEAD drops the content
    } catch (error) {
      if (response.headersSent) response.destroy();
      else refuse(statusOf(error));
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
