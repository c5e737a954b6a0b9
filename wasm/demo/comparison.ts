// Compares int8 with float32: the time, the megabytes, and the cosines of the embeddings.
import type { ShippedPrecision as Precision } from "../src/index.js";
import { byId, make, settled, showProblem } from "./dom.js";
import { bytes, duration } from "./format.js";
import type { Compared, LoadedModel } from "./sentence-messages.js";
import type { SentenceModel } from "./sentence-model.js";

type Cells = Readonly<Record<Precision, string>>;
const precisions = ["int8", "float32"] as const;
const names: Cells = { int8: "Int8", float32: "Float32" };

export class Comparison {
  readonly #table = byId("comparison-table", HTMLTableElement);
  readonly #missing = byId("comparison-missing", HTMLElement);
  readonly #actions = byId("comparison-actions", HTMLElement);
  readonly #text = byId("attention-text", HTMLInputElement);
  #loaded: LoadedModel | undefined;
  #asked = 0;

  /** The comparison uses the sentence in the text field and all sentences that `texts` returns. */
  constructor(
    private readonly model: () => SentenceModel,
    private readonly texts: () => readonly string[],
    loadOther: () => void,
  ) {
    byId("comparison-load", HTMLButtonElement).addEventListener("click", loadOther);
    const changed = settled(700, () => void this.#ask());
    this.#text.addEventListener("input", changed);
    byId("ranking-list", HTMLTextAreaElement).addEventListener("input", changed);
  }

  /**
   * With both precisions loaded, waits until the engine has optimised both kernels, measures the times, and shows the
   * figures. With one precision, shows which precision is missing.
   */
  async open(loaded: LoadedModel): Promise<void> {
    this.#loaded = loaded;
    const { int8, float32 } = loaded.facts;
    const isComplete = int8 !== undefined && float32 !== undefined;
    this.#table.hidden = !isComplete;
    this.#missing.hidden = isComplete;
    this.#actions.hidden = float32 !== undefined;
    this.#missing.textContent = isComplete ? "" : `The comparison needs both precisions. ${loaded.missing}`;
    if (!isComplete) return;
    this.#show(undefined);
    for (const precision of precisions) await this.model().warm(precision);
    await this.#ask();
  }

  /** Drops the loaded model. */
  close(): void {
    this.#loaded = undefined;
  }

  async #ask(): Promise<void> {
    if (!this.#loaded?.facts.float32 || !this.#loaded.facts.int8) return;
    const asked = ++this.#asked;
    try {
      const compared = await this.model().compare([this.#text.value, ...this.texts()]);
      if (asked === this.#asked && this.#loaded) this.#show(compared);
    } catch (problem) {
      showProblem(byId("sentences-problem", HTMLElement), problem);
    }
  }

  #show(compared: Compared | undefined): void {
    const column = (text: string) => make("th", { scope: "col" }, text);
    const head = make("tr", {}, make("td"), ...precisions.map((one) => column(names[one])));
    const body = rowsOf(this.#loaded!.facts, compared).map(([name, cells]) => {
      const figures = precisions.map((one) => make("td", {}, cells[one]));
      return make("tr", {}, make("th", { scope: "row" }, name), ...figures);
    });
    this.#table.tHead!.replaceChildren(head);
    this.#table.tBodies[0]!.replaceChildren(...body);
  }
}

const cellsOf = (cell: (precision: Precision) => string): Cells => ({ int8: cell("int8"), float32: cell("float32") });

/**
 * Returns the rows of the table. `compared` has the measured times. Before the times are measured, `compared` is
 * undefined, and the table has the sizes, but "…" in place of the times.
 */
function rowsOf(facts: LoadedModel["facts"], compared?: Compared): (readonly [name: string, cells: Cells])[] {
  const sizes: [string, Cells][] = [
    ["File of weights", cellsOf((one) => bytes(facts[one]!.weightBytes))],
    ["Memory", cellsOf((one) => bytes(facts[one]!.memoryBytes))],
  ];
  if (!compared) return [["Time", cellsOf(() => "…")], ...sizes];
  const { tokens, milliseconds, cosines } = compared;
  const mean = cosines.reduce((sum, one) => sum + one, 0) / cosines.length;
  return [
    [`Time of ${tokens} tokens`, cellsOf((one) => duration(milliseconds[one]))],
    ...sizes,
    [`Cosine to float32, mean of ${cosines.length} sentences`, { int8: cosineText(mean), float32: "1" }],
    ["Smallest of the cosines", { int8: cosineText(Math.min(...cosines)), float32: "1" }],
  ];
}

/** Truncates the cosine, so that only equal embeddings show the cosine 1. */
const cosineText = (cosine: number) => (Math.floor(cosine * 1e4) / 1e4).toFixed(4);
