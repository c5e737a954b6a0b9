// Runs MiniLM beside the page, so that neither loading 91 MB nor a long sentence makes the page wait.
import { SentenceEncoder } from "../src/minilm.js";
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
  const [weights, vocabulary] = await Promise.all([get(source.weights), get(source.vocabulary)]);
  return { weights, vocabulary };
}

// A copy of each file goes to the store as it streams in; what goes wrong there does not keep the model from working.
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
  const kept =
    source.from === "store"
      ? undefined
      : keep({ weights: files.weights.clone(), vocabulary: files.vocabulary.clone() });
  let size = 0;
  const progress = (bytes: number, total: number) => {
    size = total;
    say({ id, bytes, total });
  };
  let loaded: SentenceEncoder;
  try {
    loaded = await SentenceEncoder.load({ ...files, progress, signal });
  } catch (problem) {
    // A file that is no model is not kept either.
    await kept;
    if (source.from !== "store") await forgetModel().catch(() => undefined);
    throw problem;
  }
  encoder?.free();
  encoder = loaded;
  const notKept = await kept;
  return { ...factsOf(encoder, size), notKept };
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
