// Runs MiniLM beside the page, so that neither loading 91 MB nor a long sentence makes the page wait.
import { SentenceEncoder } from "../src/minilm.js";
import { checked } from "./checksum.js";
import { forgetModel, keepFile, keptModel, type ModelFiles } from "./model-store.js";
import { memoryOf, moduleFact } from "./module-fact.js";
import type { Answer, Attended, Embedded, ModelFacts, ModelSource, Questions, Request } from "./sentence-messages.js";

let encoder: SentenceEncoder | undefined;
let loading = new AbortController();

const say = (answer: Answer, transfer: Transferable[] = []) => self.postMessage(answer, { transfer });

async function responses(source: ModelSource, signal: AbortSignal): Promise<ModelFiles<Response>> {
  if (source.from === "store") {
    const kept = await keptModel();
    if (!kept) throw new Error("the model is no longer kept in this browser");
    return kept;
  }
  if (source.from === "disk") {
    return { weights: new Response(source.weights), vocabulary: new Response(source.vocabulary) };
  }
  const get = async (url: string) => {
    const response = await fetch(url, { signal }).catch((cause) => {
      throw signal.aborted ? cause : new Error(`${url}: cannot be reached`);
    });
    if (!response.ok) throw new Error(`${url}: answered with status ${response.status}`);
    return response;
  };
  const [weights, vocabulary] = await Promise.all([get(source.weights.url), get(source.vocabulary.url)]);
  return { weights, vocabulary };
}

// Returns copies of the files. The copies are read, and checked where their checksums are known, while the model loads.
async function checkedCopies(source: ModelSource, files: ModelFiles<Response>): Promise<ModelFiles<Response>> {
  const copy = (file: keyof ModelFiles<Response>) => {
    const { url = "", sha256 = undefined } = source.from === "network" ? source[file] : {};
    return checked(files[file].clone(), url, sha256);
  };
  const [weights, vocabulary] = await Promise.all([copy("weights"), copy("vocabulary")]);
  return { weights, vocabulary };
}

// Puts checked files into the store. Returns the problem where that fails. The model works without the store.
async function keep(files: ModelFiles<Response>): Promise<string | undefined> {
  try {
    await Promise.all([keepFile("weights", files.weights), keepFile("vocabulary", files.vocabulary)]);
    return undefined;
  } catch (problem) {
    await forgetModel().catch(() => undefined);
    return problem instanceof Error ? problem.message : String(problem);
  }
}

async function load(id: number, source: ModelSource): Promise<ModelFacts> {
  loading = new AbortController();
  const { signal } = loading;
  const files = await responses(source, signal);
  const copies = source.from === "store" ? undefined : checkedCopies(source, files);
  const kept = copies?.then(keep);
  let size = 0;
  const progress = (bytes: number, total: number) => {
    size = total;
    say({ id, bytes, total });
  };
  const [loaded, notKept] = await Promise.allSettled([SentenceEncoder.load({ ...files, progress, signal }), kept]);
  if (loaded.status === "rejected" || notKept.status === "rejected") {
    // A file that is no model, or not the expected file, is not kept either.
    if (source.from !== "store") await forgetModel().catch(() => undefined);
    if (loaded.status === "fulfilled") loaded.value.free();
    throw notKept.status === "rejected" ? notKept.reason : (loaded as PromiseRejectedResult).reason;
  }
  encoder?.free();
  encoder = loaded.value;
  return { ...factsOf(encoder, size), notKept: notKept.value };
}

function factsOf({ kernel, encoder, layers, heads }: SentenceEncoder, weightBytes: number): ModelFacts {
  const memoryBytes = memoryOf(encoder, "embeddings.LayerNorm.weight");
  return {
    layers,
    heads,
    module: moduleFact(kernel),
    weightBytes,
    memoryBytes,
    workspaceBytes: kernel.description.workspace,
  };
}

function embed(text: string): Embedded {
  const start = performance.now();
  const embedding = loadedEncoder().embed(text);
  return { embedding, tokens: loadedEncoder().ids(text).length, milliseconds: performance.now() - start };
}

function attend(text: string): Attended {
  const model = loadedEncoder();
  const start = performance.now();
  model.embed(text, { attention: true });
  const milliseconds = performance.now() - start;
  const tokens = model.tokens(text);
  const size = tokens.length ** 2;
  const maps = new Float32Array(model.layers * model.heads * size);
  for (let layer = 0; layer < model.layers; ++layer) {
    for (let head = 0; head < model.heads; ++head) {
      model.attention(layer, head).forEach((row, at) => {
        maps.set(row, (layer * model.heads + head) * size + at * tokens.length);
      });
    }
  }
  return { tokens, maps, milliseconds };
}

function loadedEncoder(): SentenceEncoder {
  if (!encoder) throw new Error("the model is not loaded yet");
  return encoder;
}

async function answerTo(request: Exclude<Request, { ask: "cancel" }>): Promise<Questions[keyof Questions]["give"]> {
  switch (request.ask) {
    case "load":
      return load(request.id, request.about);
    case "embed":
      return embed(request.about);
    case "attend":
      return attend(request.about);
    case "warm":
      await loadedEncoder().kernel.warmUp();
      await loadedEncoder().kernel.warmUp({ attention: true });
      return null;
  }
}

self.addEventListener("message", async ({ data }: MessageEvent<Request>) => {
  if (data.ask === "cancel") return loading.abort();
  const { id } = data;
  try {
    say({ id, answer: await answerTo(data) });
  } catch (problem) {
    const cancelled = data.ask === "load" && loading.signal.aborted;
    say({ id, problem: problem instanceof Error ? problem.message : String(problem), cancelled });
  }
});
