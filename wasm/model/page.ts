// The page of an imported model: loads the model, and shows what it computes from a text, token ids, a picture or numbers.
// A language model writes a text.
import { byId, make, showProblem } from "../demo/dom.js";
import { Generator, Model, type ModelDescription, type ModelInput, type ModelInputs } from "../src/model.js";
import type { EncodedPair, Tokenizer } from "../src/tokenizer.js";
import { type Classes, answerOf, comparisonOf, writeText } from "./answers.js";
import { numbersInFile, numbersInText, shapeOf } from "./numbers.js";
import { type PictureSettings, numbersOfPicture, pictureIn } from "./picture.js";

interface Settings {
  readonly name: string;
  readonly sha256: string;
  readonly classes: Classes;
  readonly eos: readonly number[];
  readonly hasTokenizer: boolean;
  /** How a picture becomes `pixel_values`, or why the page reads no pictures. */
  readonly picture?: PictureSettings | { readonly problem: string };
}
declare const modelSettings: Settings;

const { name, sha256, classes, eos, hasTokenizer, picture } = modelSettings;
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

/**
 * A field of the form. `read` returns the token ids or the numbers of an input. `role` says what a second text is for: to
 * be compared with the first, or to be the second of a pair that a classifier reads.
 */
interface Field {
  readonly text?: HTMLTextAreaElement;
  readonly file?: HTMLInputElement;
  readonly role?: "compare" | "pair";
  read(): Promise<ArrayLike<number>>;
}
const isFilled = ({ text, file }: Field): boolean => Boolean(text?.value.trim() || file?.files?.length);

const addText = (label: string): HTMLTextAreaElement => {
  const text = make("textarea", { id: `input-${form.elements.length}`, spellcheck: false });
  form.append(make("label", { for: text.id }, label), text);
  return text;
};

function addIds(label: string, { most }: ModelInput, tokenizer: Tokenizer | undefined): Field {
  const text = addText(label);
  return { text, read: async () => (tokenizer ? tokenizer.encode(text.value).slice(0, most) : idsIn(text.value)) };
}

/** Adds a field for numbers, and a field for a file. The field that the user changed last counts, and the other is emptied. */
function addNumbers(input: ModelInput): Field {
  const text = addText(`${input.name}: ${shapeOf(input)}`);
  const file = make("input", { id: `${text.id}-file`, type: "file", accept: ".csv,.tsv,.txt,.json,.safetensors" });
  form.append(make("label", { for: file.id }, `${input.name} from a file: CSV, JSON or safetensors`), file);
  text.addEventListener("input", () => (file.value = ""));
  file.addEventListener("change", () => (text.value = ""));
  return { text, file, read: async () => (file.files?.[0] ? numbersInFile(file.files[0], input) : numbersInText(text.value, input)) };
}

/** Adds a field for a picture, which can also be dropped on the page, or for a file of numbers. Shows what the model sees. */
function addPicture(input: ModelInput, settings: PictureSettings): Field {
  const id = `input-${form.elements.length}`;
  const file = make("input", { id, type: "file", accept: "image/*,.csv,.tsv,.txt,.json,.safetensors" });
  const seen = make("canvas", { role: "img", "aria-label": "What the model sees", hidden: true });
  form.append(make("label", { for: id }, `A picture to choose or drop, or a file of ${shapeOf(input)}: CSV, JSON or safetensors`), file, seen);
  const numbersIn = async (chosen: File): Promise<ArrayLike<number>> => {
    if (!chosen.type.startsWith("image/")) return numbersInFile(chosen, input);
    const image = await pictureIn(chosen, settings);
    if (chosen !== file.files![0]) return []; // the user has chosen another picture
    Object.assign(seen, { width: image.width, height: image.height, hidden: false });
    seen.getContext("2d", { willReadFrequently: true })!.putImageData(new ImageData(image.data, image.width), 0, 0);
    return numbersOfPicture(image, settings);
  };
  let numbers: Promise<ArrayLike<number>> = Promise.resolve([]);
  file.addEventListener("change", () => {
    seen.hidden = true;
    answer.replaceChildren();
    showProblem(problem);
    numbers = file.files![0] ? numbersIn(file.files![0]) : Promise.resolve([]);
    numbers.catch((error) => showProblem(problem, error));
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (!event.dataTransfer?.files.length) return;
    file.files = event.dataTransfer.files;
    file.dispatchEvent(new Event("change"));
  });
  return { file, read: () => numbers };
}

/** Whether each input has a stack of its own, such as those of CLIP for a text and an image. */
const hasStacks = ({ functions }: ModelDescription): boolean => functions.some(({ inputs }) => inputs);

/** Adds a field for each input, and for a second text if the model reads pairs, or makes a vector of a text. */
function showForm({ description }: Model, tokenizer: Tokenizer | undefined): Field[] {
  const inputs = description.texts ? description.inputs.slice(0, 1) : description.inputs;
  const isNamed = inputs.length > 1 && !(hasStacks(description) && tokenizer);
  const nameOf = (input: ModelInput): string => (isNamed ? input.name : tokenizer ? "A text" : "Token ids");
  const fields = inputs.map((input) => {
    if (input.kind === "ids") return addIds(nameOf(input), input, tokenizer);
    if (input.name !== "pixel_values" || !picture) return addNumbers(input);
    if (!("problem" in picture)) return addPicture(input, picture);
    form.append(make("p", {}, picture.problem));
    return addNumbers(input);
  });
  const has = (name: string): boolean => description.functions.some((one) => one.name === name && !(name === "head" && one.hasRows));
  if (inputs.length === 1 && inputs[0]!.kind === "ids" && !description.texts) {
    if (tokenizer && has("head")) {
      fields.push({ ...addIds("A second text, if the model reads pairs", inputs[0]!, tokenizer), role: "pair" });
    } else if (has("pool")) {
      const label = tokenizer ? "Another text, to compare" : "Other token ids, to compare";
      fields.push({ ...addIds(label, inputs[0]!, tokenizer), role: "compare" });
    }
  }
  form.append(make("button", {}, description.texts ? "Write" : "Compute"));
  form.hidden = false;
  return fields;
}

const pairOf = ({ name, types: nameOfTypes }: ModelInput, { ids, types }: EncodedPair): ModelInputs => ({
  [name]: ids,
  ...(nameOfTypes ? { [nameOfTypes]: types } : {}),
});

/** Returns the inputs of one or two calls. Each stack that has a filled field has a call of its own. */
async function callsOf({ description }: Model, fields: readonly Field[], tokenizer: Tokenizer | undefined): Promise<ModelInputs[]> {
  const { inputs } = description;
  const read = async (i: number): Promise<ModelInputs> => ({ [inputs[i % inputs.length]!.name]: await fields[i]!.read() });
  if (hasStacks(description)) {
    const filled = [...fields.keys()].filter((i) => isFilled(fields[i]!));
    return Promise.all((filled.length ? filled : [0]).map(read));
  }
  const other = fields[inputs.length];
  const hasOther = other !== undefined && isFilled(other);
  if (hasOther && other.role === "pair") return [pairOf(inputs[0]!, tokenizer!.encodePair(fields[0]!.text!.value, other.text!.value))];
  const first = Object.assign({}, ...(await Promise.all(inputs.map((_, i) => read(i)))));
  return hasOther ? [first, await read(inputs.length)] : [first];
}

async function compute(model: Model, fields: readonly Field[], tokenizer: Tokenizer | undefined): Promise<void> {
  const [first = {}, second] = await callsOf(model, fields, tokenizer);
  const begin = performance.now();
  const shown = second ? comparisonOf(model, first, second) : answerOf(model, first, classes);
  const time = `${(performance.now() - begin).toFixed(1)} ms`;
  answer.replaceChildren(...shown, make("p", {}, `Time: ${time}`));
}

let writing: AbortController | undefined;

/** Shows how many tokens of a long prompt are computed. */
function showPrompt(done: number, total: number): void {
  const progress = byId("progress", HTMLProgressElement);
  progress.setAttribute("aria-label", "Tokens of the prompt");
  progress.value = done / total;
  progress.hidden = done === total;
}

/** Writes a text. Stops an earlier text. */
async function write(generator: Generator, prompt: string | ArrayLike<number>, hasText: boolean): Promise<void> {
  writing?.abort();
  const { signal } = (writing = new AbortController());
  const place = make("p", { id: "text" });
  answer.setAttribute("aria-busy", "true"); // screen readers read the text when it has ended
  answer.replaceChildren(place);
  const begin = performance.now();
  try {
    const tokens = await writeText(place, generator, prompt, hasText, showPrompt, signal);
    answer.append(make("p", {}, `${tokens} tokens, ${((performance.now() - begin) / Math.max(tokens, 1)).toFixed(1)} ms each`));
  } catch (error) {
    if (!signal.aborted) showProblem(problem, error);
  }
  if (!signal.aborted) showPrompt(1, 1);
  if (!signal.aborted) answer.setAttribute("aria-busy", "false");
}

async function start(): Promise<void> {
  const [model, tokenizer] = await Promise.all([loadModel(), loadTokenizer()]);
  const { description } = model;
  byId("progress", HTMLElement).hidden = true;
  byId("loading", HTMLElement).textContent = `Ready: the variant ${description.variant} with ${description.precision} weights`;
  const fields = showForm(model, tokenizer);
  const generator = description.texts && new Generator(model, { tokenizer, eos });
  /** Writes a text, or computes the answer. */
  const answerForm = async (): Promise<void> => {
    const isText = tokenizer && description.inputs[0]!.kind === "ids";
    if (!generator) return compute(model, fields, tokenizer);
    return write(generator, isText ? fields[0]!.text!.value : await fields[0]!.read(), tokenizer !== undefined);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    showProblem(problem);
    answerForm().catch((error) => {
      answer.replaceChildren();
      showProblem(problem, error);
    });
  });
}

start().catch((error) => {
  byId("loading", HTMLElement).textContent = "The model cannot be loaded.";
  showProblem(problem, error);
});
void navigator.serviceWorker?.register(fileAt("service-worker.js")).catch(() => {}); // the page also works without it
