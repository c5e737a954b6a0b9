// Runs the benchmark in the visitor's browser. Shows the results as bars, next to the peak rate of the engine for this
// kind of module (the ceiling).
import { supports } from "../src/variants.js";
import { type BenchmarkMessage, type BenchmarkShape, type Cell, shapes, type Variant } from "./benchmark-messages.js";
import { byId, make, showProblem } from "./dom.js";
import { percent } from "./format.js";

const variants: readonly { readonly name: string; readonly variant: Variant }[] = [
  { name: "relaxed SIMD", variant: "relaxed" },
  { name: "SIMD", variant: "simd" },
  { name: "scalar", variant: "scalar" },
];

interface Row {
  readonly full: HTMLElement;
  readonly causal: HTMLElement;
}

export async function start(): Promise<void> {
  new Benchmark();
}

class Benchmark {
  readonly #table = byId("benchmark-table", HTMLTableElement);
  readonly #run = byId("benchmark-run", HTMLButtonElement);
  readonly #copy = byId("benchmark-copy", HTMLButtonElement);
  readonly #state = byId("benchmark-state", HTMLElement);
  readonly #rows = new Map<string, Row>();
  #cells: Cell[] = [];
  #worker: Worker | undefined;

  constructor() {
    this.#addRows();
    this.#run.addEventListener("click", () => (this.#worker ? this.#stop("Stopped.") : this.#start()));
    this.#copy.addEventListener("click", () => void this.#copyMarkdown());
    this.#run.disabled = false;
  }

  #addRows(): void {
    const heads = ["Module", "All pairs", "Causal"].map((name) => make("th", { scope: "col" }, name));
    const bodies = shapes.map((shape, at) => {
      const rows = variants.map(({ name, variant }) => {
        const full = make("td", { class: "bar" });
        const causal = make("td", { class: "bar causal" });
        const has = supports(variant);
        this.#rows.set(`${at} ${variant}`, { full, causal });
        clear({ full, causal }, has ? "" : "not in this browser");
        return make("tr", { class: has ? "" : "absent" }, make("th", { scope: "row" }, name), full, causal);
      });
      const title = make("th", { scope: "rowgroup", colspan: 3 }, nameOf(shape));
      return make("tbody", {}, make("tr", { class: "shape" }, title), ...rows);
    });
    this.#table.append(make("thead", {}, make("tr", {}, ...heads)), ...bodies);
  }

  #start(): void {
    showProblem(byId("benchmark-problem", HTMLElement));
    this.#cells = [];
    this.#copy.disabled = true;
    this.#run.textContent = "Stop";
    for (const { variant } of variants.filter(({ variant }) => supports(variant))) {
      shapes.forEach((_shape, at) => clear(this.#rows.get(`${at} ${variant}`)!, ""));
    }
    this.#worker = new Worker(new URL("./benchmark-worker.js", import.meta.url), { type: "module" });
    this.#worker.addEventListener("message", ({ data }: MessageEvent<BenchmarkMessage>) => this.#take(data));
    this.#worker.addEventListener("error", ({ message }) =>
      this.#take({ problem: message || "the worker did not start" }),
    );
  }

  #stop(state: string): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#run.textContent = "Measure again";
    this.#state.textContent = state;
    this.#copy.disabled = this.#cells.length === 0;
  }

  #take(message: BenchmarkMessage): void {
    if ("begins" in message) {
      const name = variants.find(({ variant }) => variant === message.variant)!.name;
      this.#state.textContent = `Measuring ${name}, ${nameOf(shapes[message.begins]!)}`;
    } else if ("cell" in message) {
      this.#cells.push(message.cell);
      this.#draw();
    } else if ("problem" in message) {
      showProblem(byId("benchmark-problem", HTMLElement), message.problem);
      this.#stop("Not finished.");
    } else {
      this.#stop(`Done: up to ${Math.max(...this.#cells.map(({ full }) => full)).toFixed(1)} GFLOP/s.`);
    }
  }

  #draw(): void {
    const largest = Math.max(...this.#cells.flatMap(({ full, causal, ceiling }) => [full, causal, ceiling]));
    this.#table.style.setProperty("--largest", String(largest));
    for (const { shape, variant, full, causal, ceiling } of withOneCeiling(this.#cells)) {
      const row = this.#rows.get(`${shape} ${variant}`)!;
      fill(row.full, full, ceiling);
      fill(row.causal, causal, ceiling);
    }
  }

  async #copyMarkdown(): Promise<void> {
    const text = markdown(this.#cells);
    try {
      await navigator.clipboard.writeText(text);
      this.#state.textContent = "Copied.";
    } catch {
      this.#offerText(text);
    }
  }

  // Selects the text for copying by hand, if the browser does not let pages write to the clipboard.
  #offerText(text: string): void {
    const field = make(
      "textarea",
      { rows: 8, readonly: true, "aria-label": "The figures as Markdown", id: "benchmark-text" },
      text,
    );
    document.getElementById("benchmark-text")?.remove();
    this.#table.before(field);
    field.select();
    this.#state.textContent = "Press Ctrl+C to copy.";
  }
}

function nameOf({ tokens, model, heads }: BenchmarkShape): string {
  return `${tokens} tokens, model ${model}, ${heads} heads`;
}

/** Shows the text `note` in place of the bars of a row. If `note` is empty, shows empty bars. */
function clear({ full, causal }: Row, note: string): void {
  const track = () => make("span", { class: "track empty", "aria-hidden": "true" });
  full.replaceChildren(note ? make("span", { class: "figure" }, note) : track());
  causal.replaceChildren(...(note ? [] : [track()]));
}

function fill(cell: HTMLElement, rate: number, ceiling: number): void {
  const track = make(
    "span",
    { class: "track", "aria-hidden": "true" },
    make("span", { class: "value" }),
    make("span", { class: "ceiling" }),
  );
  track.style.setProperty("--value", String(rate));
  track.style.setProperty("--limit", String(ceiling));
  const share = make(
    "span",
    { class: "share" },
    percent(rate / ceiling),
    make("span", { class: "unseen" }, " of the ceiling"),
  );
  cell.replaceChildren(track, make("span", { class: "figure" }, `${rate.toFixed(1)} `, share));
}

// Returns the cells with one ceiling for each kind of module: the highest. The benchmark measures the ceiling again for
// each shape.
function withOneCeiling(cells: readonly Cell[]): Cell[] {
  return cells.map((cell) => {
    const ceilings = cells.filter(({ variant }) => variant === cell.variant).map(({ ceiling }) => ceiling);
    return { ...cell, ceiling: Math.max(...ceilings) };
  });
}

/** Returns the figures as a Markdown table. */
function markdown(cells: readonly Cell[]): string {
  const lines = withOneCeiling(cells).map(({ shape, variant, full, causal, ceiling }) => {
    const { tokens, model, heads } = shapes[shape]!;
    const figures = [full, causal].flatMap((rate) => [rate.toFixed(1), percent(rate / ceiling)]);
    return `| (${tokens}, ${model}, ${heads}) | ${variant} | ${figures.join(" | ")} | ${ceiling.toFixed(1)} |`;
  });
  return [
    "Ladon in the browser, one thread, GFLOP/s of needed work, and its share of the multiply-add ceiling",
    "",
    "| tokens, model, heads | module | all pairs | | causal | | ceiling |",
    "|---|---|--:|--:|--:|--:|--:|",
    ...lines,
    "",
    navigator.userAgent,
    "",
  ].join("\n");
}
