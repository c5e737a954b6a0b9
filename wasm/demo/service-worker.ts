// Stores the page for use without a network. With a network, the worker fetches the page's files again, so that the
// user sees a changed page at once. If a fetch fails, the worker answers with the stored file. The build writes
// `pageFiles`, the list of the page's files, and `pageVersion`, a hash of these files, into this script. So each build
// has a different script. After a new build, the browser loads the new script, which stores the new files.
export {};

declare const pageFiles: readonly string[];
declare const pageVersion: string;

interface Fetching extends Event {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
interface Waiting extends Event {
  waitUntil(promise: Promise<unknown>): void;
}
const worker = self as unknown as {
  addEventListener(kind: "install" | "activate", listener: (event: Waiting) => void): void;
  addEventListener(kind: "fetch", listener: (event: Fetching) => void): void;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
  registration: { scope: string };
};

const kind = "ladon-page-";
const name = kind + pageVersion;
const urls = new Set(pageFiles.map((file) => new URL(file, worker.registration.scope).href));

async function install(): Promise<void> {
  const cache = await caches.open(name);
  await cache.addAll(Array.from(urls, (url) => new Request(url, { cache: "no-cache" })));
  await worker.skipWaiting();
}

async function activate(): Promise<void> {
  const old = (await caches.keys()).filter((key) => key.startsWith(kind) && key !== name);
  await Promise.all(old.map((key) => caches.delete(key)));
  await worker.clients.claim();
}

async function answer(url: string, request: Request): Promise<Response> {
  try {
    return await fetch(request, request.mode === "navigate" ? {} : { cache: "no-cache" });
  } catch (problem) {
    const kept = await (await caches.open(name)).match(url);
    if (kept) return kept;
    throw problem;
  }
}

worker.addEventListener("install", (event) => event.waitUntil(install()));
worker.addEventListener("activate", (event) => event.waitUntil(activate()));
worker.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  url.search = url.hash = "";
  if (event.request.method === "GET" && urls.has(url.href)) event.respondWith(answer(url.href, event.request));
});
