// Runs MiniLM in a worker, so that neither loading 91 MB nor a long sentence blocks the page.
import type { ShippedPrecision as Precision } from "../src/index.js";
import { type SentenceEncoder, similarity } from "../src/minilm.js";
import { memoryOf, moduleFact } from "./module-fact.js";
import { type Loaded, type LoadedPrecisions, loadPrecisions } from "./sentence-load.js";
import type {
  Answer,
  Asked,
  Attended,
  Compared,
  Embedded,
  LoadedModel,
  ModelFacts,
  Questions,
  Request,
} from "./sentence-messages.js";
import { timesOf } from "./timing.js";

let models: LoadedPrecisions["models"] = {};
let loading = new AbortController();

const say = (answer: Answer) => self.postMessage(answer);

async function load({ source, precision }: Questions["load"]["take"]): Promise<LoadedModel> {
  loading = new AbortController();
  const progressOf = (step: string) => (bytes: number, total: number) => say({ step, bytes, total });
  const loaded = await loadPrecisions(source, precision, { signal: loading.signal, progressOf });
  for (const { encoder } of Object.values(models)) encoder.free();
  models = loaded.models;
  const { layers, heads } = modelOf(precision).encoder;
  const facts = Object.fromEntries(Object.entries(models).map(([name, model]) => [name, factsOf(model)]));
  return { layers, heads, facts, missing: loaded.missing, notKept: loaded.notKept };
}

function factsOf({ encoder: { kernel, encoder }, file }: Loaded): ModelFacts {
  return {
    module: moduleFact(kernel),
    weightBytes: file.size,
    memoryBytes: memoryOf(encoder, "embeddings.LayerNorm.weight"),
    workspaceBytes: kernel.description.workspace,
  };
}

function modelOf(precision: Precision): Loaded {
  const model = models[precision];
  if (!model) throw new Error(`the model is not loaded in ${precision}`);
  return model;
}

function embed({ text, precision }: Asked): Embedded {
  const { encoder } = modelOf(precision);
  const start = performance.now();
  const embedding = encoder.embed(text);
  const milliseconds = performance.now() - start;
  return { embedding, tokens: encoder.ids(text).length, milliseconds };
}

function attend({ text, precision }: Asked): Attended {
  const { encoder } = modelOf(precision);
  const start = performance.now();
  encoder.embed(text, { attention: true });
  const milliseconds = performance.now() - start;
  const tokens = encoder.tokens(text);
  return { tokens, maps: mapsOf(encoder, tokens.length), milliseconds };
}

function mapsOf(encoder: SentenceEncoder, tokens: number): Float32Array {
  const { layers, heads } = encoder;
  const maps = new Float32Array(layers * heads * tokens ** 2);
  for (let layer = 0; layer < layers; ++layer) {
    for (let head = 0; head < heads; ++head) {
      encoder.attention(layer, head).forEach((row, at) => {
        maps.set(row, ((layer * heads + head) * tokens + at) * tokens);
      });
    }
  }
  return maps;
}

function compare(texts: readonly string[]): Compared {
  const [int8, float32] = [modelOf("int8").encoder, modelOf("float32").encoder];
  const [text = ""] = texts;
  const times = timesOf([int8, float32].map((encoder) => () => void encoder.embed(text)));
  return {
    tokens: int8.ids(text).length,
    milliseconds: { int8: times[0]!, float32: times[1]! },
    cosines: texts.map((one) => similarity(int8.embed(one), float32.embed(one))),
  };
}

async function warm(precision: Precision): Promise<null> {
  const { kernel } = modelOf(precision).encoder;
  await kernel.warmUp();
  await kernel.warmUp({ attention: true });
  return null;
}

async function answerTo(request: Exclude<Request, { ask: "cancel" }>): Promise<Questions[keyof Questions]["give"]> {
  switch (request.ask) {
    case "load":
      return load(request.about);
    case "embed":
      return embed(request.about);
    case "attend":
      return attend(request.about);
    case "warm":
      return warm(request.about);
    case "compare":
      return compare(request.about);
    case "int8File":
      return modelOf("int8").file;
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
