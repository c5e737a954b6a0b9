// Shows what a model computes.
import { make } from "../demo/dom.js";
import type { Generator, Model, ModelFunction, ModelInputs } from "../src/model.js";

/** What config.json says of the classes: their names, and transformers' problem_type. */
export interface Classes {
  readonly labels?: readonly string[];
  readonly problem?: string;
}

const firstOf = (values: Float32Array): string =>
  `${Array.from(values.subarray(0, 8), (value) => value.toFixed(4)).join(", ")}${values.length > 8 ? ", …" : ""}`;

/** Returns the function `name`, or in a model of several stacks that of the stack with these inputs. */
const functionOf = ({ description }: Model, name: string, given: ModelInputs): ModelFunction | undefined =>
  description.functions.find(({ name: found, inputs }) =>
    inputs ? found.startsWith(`${name}_`) && inputs.every((input) => input in given) : found === name,
  );

/** Returns the vector of an input. In a model of several stacks, the heads give vectors that can be compared. */
const vectorOf = (model: Model, inputs: ModelInputs): Float32Array | undefined => {
  if (functionOf(model, "head", inputs)?.inputs) return model.head(inputs);
  return functionOf(model, "pool", inputs) && model.pool(inputs);
};

/** Returns the probabilities of classes. Several classes at once may be right if the problem has many labels. */
function probabilitiesOf(logits: Float32Array, problem: string | undefined): Float32Array {
  if (problem === "multi_label_classification") return logits.map((value) => 1 / (1 + Math.exp(-value)));
  const most = logits.reduce((a, b) => Math.max(a, b), -Infinity);
  const exponentials = logits.map((value) => Math.exp(value - most));
  const sum = exponentials.reduce((a, b) => a + b, 0);
  return exponentials.map((value) => value / sum);
}

/** Shows a class in each row, the likeliest first. At most eight classes are shown. A single number is not a class. */
function classesOf(logits: Float32Array, { labels, problem }: Classes): Node[] {
  // "LABEL_0" is transformers' name for a class without a name.
  const name = labels?.[0]?.replace(/^LABEL_0$/, "") || "The score";
  if (logits.length === 1) return [make("p", {}, `${name}: ${firstOf(logits)}`)];
  const probabilities = probabilitiesOf(logits, problem);
  const order = Array.from(logits.keys()).sort((a, b) => logits[b]! - logits[a]!);
  const rows = order.slice(0, 8).map((i) =>
    make(
      "tr",
      {},
      make("td", {}, labels?.[i] ?? `${i}`),
      make("td", {}, logits[i]!.toFixed(4)),
      make("td", {}, `${(100 * probabilities[i]!).toFixed(1)}%`),
    ),
  );
  const heads = ["class", "score", "probability"].map((head) => make("th", {}, head));
  return [make("table", {}, make("tr", {}, ...heads), ...rows)];
}

/** Shows the likeliest class of each of the first rows. */
function classesOfRows(logits: Float32Array, width: number, { labels }: Classes): Node[] {
  const most = 64;
  const rows = Array.from({ length: Math.min(logits.length / width, most) }, (_, row) => {
    const ofRow = logits.subarray(row * width, (row + 1) * width);
    const best = ofRow.indexOf(Math.max(...ofRow));
    return make("tr", {}, make("td", {}, `${row}`), make("td", {}, labels?.[best] ?? `${best}`));
  });
  return [make("table", {}, make("tr", {}, make("th", {}, "row"), make("th", {}, "likeliest class")), ...rows)];
}

/** Computes and shows the last result that the model has: classes, a vector, or hidden states. */
export function answerOf(model: Model, inputs: ModelInputs, classes: Classes): Node[] {
  const head = functionOf(model, "head", inputs);
  if (head?.hasRows) return classesOfRows(model.head(inputs), head.width, classes);
  if (head && !head.inputs) return classesOf(model.head(inputs), classes);
  const vector = vectorOf(model, inputs);
  if (vector) return [make("p", {}, `A vector of ${vector.length} numbers: ${firstOf(vector)}`)];
  const { last, rows, width } = model.run(inputs);
  return [make("p", {}, `${rows} rows of ${width} numbers: ${firstOf(last)}`)];
}

/**
 * Writes a text into `place`, token by token. Without a tokenizer, writes token ids. `progress` gets the part of the prompt
 * that is computed. Returns the number of tokens.
 */
export async function writeText(
  place: HTMLElement,
  generator: Generator,
  prompt: string | ArrayLike<number>,
  hasText: boolean,
  progress: (done: number, total: number) => void,
  signal: AbortSignal,
): Promise<number> {
  let tokens = 0;
  const isContinued = generator.model.description.texts?.source === undefined;
  place.textContent = typeof prompt === "string" && isContinued ? prompt : "";
  for await (const { id, text } of generator.generate(prompt, { tokens: 200, progress, signal })) {
    place.append(hasText ? text : `${id} `);
    ++tokens;
  }
  return tokens;
}

/** Shows the cosine of the vectors of two inputs, such as two texts, or a text and an image. */
export function comparisonOf(model: Model, first: ModelInputs, second: ModelInputs): Node[] {
  const [a, b] = [vectorOf(model, first), vectorOf(model, second)];
  if (a?.length !== b?.length || !a || !b) return [...answerOf(model, first, {}), ...answerOf(model, second, {})];
  const dot = (x: Float32Array, y: Float32Array): number => x.reduce((sum, value, i) => sum + value * y[i]!, 0);
  const cosine = dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
  return [make("p", {}, `Cosine: ${cosine.toFixed(4)} (1: equal, 0: unrelated)`)];
}
