// Gets the model's files: from the browser's own store, from the user's disk, or from addresses.
import { checkContent } from "./checksum.js";
import { keptModel, type ModelFiles } from "./model-store.js";
import type { ModelSource, RemoteFile } from "./sentence-messages.js";
import type { Progress } from "./weight-file.js";

/**
 * Returns a copy of `response` that reports the progress of reading its body. `progress` gets two numbers: the bytes so
 * far, and the bytes of the whole body. The second number is 0 if the size of the body is unknown.
 */
function counted(response: Response, progress: Progress): Response {
  const { body, headers } = response;
  const total = headers.has("content-encoding") ? 0 : Number(headers.get("content-length"));
  let bytes = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      bytes += piece.length;
      progress(bytes, total);
      controller.enqueue(piece);
    },
  });
  return new Response(body?.pipeThrough(count));
}

/** Downloads `file`. Throws if the download fails, or if the content does not have the checksum `file.sha256`. */
export async function fetched(file: RemoteFile, signal: AbortSignal, progress: Progress): Promise<Blob> {
  const { url } = file;
  const failed = (what: string) => (cause: unknown) => {
    throw signal.aborted ? cause : new Error(`${url}: ${what}`);
  };
  const response = await fetch(url, { signal }).catch(failed("cannot be reached"));
  if (!response.ok) throw new Error(`${url}: answered with status ${response.status}`);
  const content = await counted(response, progress).blob().catch(failed("the connection broke"));
  await checkContent(content, file);
  return content;
}

/** Returns the weights and the vocabulary of MiniLM. Throws if a file cannot be read, or does not have its checksum. */
export async function modelFiles(source: ModelSource, signal: AbortSignal, progress: Progress): Promise<ModelFiles> {
  if (source.from === "disk") return source;
  if (source.from === "store") {
    const kept = await keptModel();
    if (!kept) throw new Error("the model is no longer kept in this browser");
    return { weights: await kept.weights.blob(), vocabulary: await kept.vocabulary.blob() };
  }
  // If the download of the weights or of the vocabulary fails, `stop` ends the download of the other file.
  const stop = new AbortController();
  signal.addEventListener("abort", () => stop.abort(signal.reason));
  try {
    const [weights, vocabulary] = await Promise.all([
      fetched(source.weights, stop.signal, progress),
      fetched(source.vocabulary, stop.signal, () => undefined),
    ]);
    return { weights, vocabulary };
  } catch (problem) {
    stop.abort();
    throw problem;
  }
}
