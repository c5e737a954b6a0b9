// The page of an imported model: loads the model, and shows what it computes from a text or from token ids. A language
// model writes a text.
import { byId, make, showProblem } from "../demo/dom.js";
import { Generator, Model } from "../src/model.js";
import type { Tokenizer } from "../src/tokenizer.js";
import { answerOf, comparisonOf, writeText } from "./answers.js";

interface Settings {
  readonly name: string;
  readonly sha256: string;
  readonly labels?: readonly string[];
  readonly eos: readonly number[];
  readonly hasTokenizer: boolean;
}
declare const modelSettings: Settings;

const { name, sha256, labels, eos, hasTokenizer } = modelSettings;
const form = byId("form", HTMLFormElement);
const problem = byId("problem", HTMLElement);
const answer = byId("answer", HTMLElement);
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
const fileAt = (path: string): URL => new URL(path, document.baseURI);

const loadModel = (): Promise<Model> =>
  Model.load({
    module: (variant) => fileAt(`${name}.${variant}.wasm`),
    weights: fileAt(`${name}.weights`),
    sha256,
    progress(bytes, total) {
      byId("progress", HTMLProgressElement).value = bytes / total;
      byId("loading", HTMLElement).textContent = `Loading: ${megabytes(bytes)} of ${megabytes(total)}`;
    },
  });

const loadTokenizer = async (): Promise<Tokenizer | undefined> =>
  hasTokenizer ? (await import("../src/tokenizer.js")).Tokenizer.load(fileAt("tokenizer.json")) : undefined;

const idsIn = (text: string): number[] => (text.match(/-?\d+/g) ?? []).map(Number);

/** Adds a field for each input, and a second text to compare if the model makes a vector of a text. */
function showForm({ description }: Model, tokenizer: Tokenizer | undefined): HTMLTextAreaElement[] {
  const inputs = description.texts ? description.inputs.slice(0, 1) : description.inputs;
  const labelsOfFields = inputs.map((input) => (inputs.length > 1 ? input.name : tokenizer ? "A text" : "Token ids"));
  if (labelsOfFields.length === 1 && description.functions.some((one) => one.name === "pool")) {
    labelsOfFields.push(tokenizer ? "Another text, to compare" : "Other token ids, to compare");
  }
  const fields = labelsOfFields.map((label, i) => {
    const field = make("textarea", { id: `input-${i}`, spellcheck: false });
    form.append(make("label", { for: field.id }, label), field);
    return field;
  });
  form.append(make("button", {}, description.texts ? "Write" : "Compute"));
  form.hidden = false;
  return fields;
}

function compute(model: Model, tokenizer: Tokenizer | undefined, fields: readonly HTMLTextAreaElement[]): void {
  const { inputs } = model.description;
  const idsOf = (text: string): number[] => (tokenizer ? tokenizer.encode(text).slice(0, inputs[0]!.most) : idsIn(text));
  const texts = fields.map((field) => idsOf(field.value));
  const inputsOf = (first: number): Record<string, number[]> =>
    Object.fromEntries(inputs.map((input, i) => [input.name, texts[first + i]!]));
  const begin = performance.now();
  const isComparison = fields.length > inputs.length && fields.at(-1)!.value.trim() !== "";
  const shown = isComparison
    ? comparisonOf(model, inputsOf(0), inputsOf(1))
    : answerOf(model, inputsOf(0), labels);
  const time = `${(performance.now() - begin).toFixed(1)} ms`;
  answer.replaceChildren(...shown, make("p", {}, `Time: ${time}`));
}

let writing: AbortController | undefined;

/** Writes a text. Stops an earlier text. */
async function write(generator: Generator, prompt: string | readonly number[]): Promise<void> {
  writing?.abort();
  const { signal } = (writing = new AbortController());
  const place = make("p", { id: "text" });
  answer.setAttribute("aria-busy", "true"); // screen readers read the text when it has ended
  answer.replaceChildren(place);
  const begin = performance.now();
  try {
    const tokens = await writeText(place, generator, prompt, signal);
    answer.append(make("p", {}, `${tokens} tokens, ${((performance.now() - begin) / Math.max(tokens, 1)).toFixed(1)} ms each`));
  } catch (error) {
    if (!signal.aborted) showProblem(problem, error);
  }
  if (!signal.aborted) answer.setAttribute("aria-busy", "false");
}

async function start(): Promise<void> {
  const [model, tokenizer] = await Promise.all([loadModel(), loadTokenizer()]);
  const { description } = model;
  byId("progress", HTMLElement).hidden = true;
  byId("loading", HTMLElement).textContent = `Ready: the variant ${description.variant} with ${description.precision} weights`;
  if (description.inputs.some(({ kind }) => kind !== "ids")) {
    const names = description.inputs.map((input) => input.name).join(", ");
    byId("facts", HTMLElement).textContent = `The inputs are numbers (${names}): see ${name}.d.ts.`;
    return;
  }
  const fields = showForm(model, tokenizer);
  const generator = description.texts && new Generator(model, { tokenizer, eos });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    showProblem(problem);
    const text = fields[0]!.value;
    if (generator) return void write(generator, tokenizer ? text : idsIn(text));
    try {
      compute(model, tokenizer, fields);
    } catch (error) {
      answer.replaceChildren();
      showProblem(problem, error);
    }
  });
}

start().catch((error) => {
  byId("loading", HTMLElement).textContent = "The model cannot be loaded.";
  showProblem(problem, error);
});
void navigator.serviceWorker?.register(fileAt("service-worker.js")).catch(() => {}); // the page also works without it
