// Shows a sentence as words. The user picks a word. The colour of each word shows the attention weight from the picked
// word to this word.
import { fitCanvas } from "./canvas.js";
import { byId, fillFrom, make, settled, showProblem } from "./dom.js";
import { percent } from "./format.js";
import { heat, onHeatChange } from "./heat.js";
import type { Attended } from "./sentence-messages.js";
import type { SentenceModel } from "./sentence-model.js";
import { type Word, wordsOf, wordWeights } from "./words.js";

// The panel first shows the attention in this layer and head, in which the word 'it' of the example sentence attends to
// 'dog'.
const firstLayer = 3;
const firstHead = 1;

interface Chip {
  readonly word: Word;
  readonly choice: HTMLInputElement;
  readonly label: HTMLElement;
  readonly share: HTMLElement;
}

export class WordAttention {
  readonly #text = byId("attention-text", HTMLInputElement);
  readonly #words = byId("attention-words", HTMLFieldSetElement);
  readonly #heads = byId("attention-heads", HTMLFieldSetElement);
  readonly #special = byId("attention-special", HTMLInputElement);
  readonly #explanation = byId("attention-explanation", HTMLElement);
  readonly #table = byId("attention-table", HTMLTableElement);
  #chips: Chip[] = [];
  #panels: { choice: HTMLInputElement; canvas: HTMLCanvasElement; label: HTMLElement }[] = [];
  #headCount = 0;
  #attended: Attended | undefined;
  #asked = 0;

  constructor(
    private readonly model: () => SentenceModel,
    private readonly timed: (milliseconds: number, tokens: number) => void,
  ) {
    this.#text.addEventListener(
      "input",
      settled(60, () => void this.ask()),
    );
    fillFrom(byId("attention-examples", HTMLElement), this.#text);
    this.#special.addEventListener("change", () => this.#showWords());
    onHeatChange(() => this.#draw());
    new ResizeObserver(() => this.#draw()).observe(this.#heads);
  }

  async open(layers: number, heads: number): Promise<void> {
    if (this.#panels.length === 0) this.#addHeads(layers, heads);
    await this.ask();
  }

  // Computes the attention in the typed sentence. If several calls are pending, only the result of the last is shown.
  async ask(): Promise<void> {
    const asked = ++this.#asked;
    try {
      const attended = await this.model().attend(this.#text.value);
      if (asked !== this.#asked) return;
      this.#attended = attended;
      this.timed(attended.milliseconds, attended.tokens.length);
      this.#showWords();
    } catch (problem) {
      showProblem(byId("sentences-problem", HTMLElement), problem);
    }
  }

  #addHeads(layers: number, heads: number): void {
    this.#headCount = heads;
    byId("attention-map", HTMLElement).style.setProperty("--heads", String(heads));
    for (const [axis, count] of [
      ["attention-head-axis", heads],
      ["attention-layer-axis", layers],
    ] as const) {
      byId(axis, HTMLElement).replaceChildren(...Array.from({ length: count }, (_, i) => make("span", {}, String(i))));
    }
    for (let layer = 0; layer < layers; ++layer) {
      for (let head = 0; head < heads; ++head) {
        const choice = make("input", { type: "radio", name: "word-head", class: "unseen" });
        const canvas = make("canvas", { "aria-hidden": "true" });
        const name = make("span", { class: "unseen" }, `layer ${layer}, head ${head}`);
        const label = make("label", { class: "head", title: `layer ${layer}, head ${head}` }, choice, name, canvas);
        choice.checked = layer === firstLayer && head === firstHead;
        choice.addEventListener("change", () => this.#draw());
        this.#panels.push({ choice, canvas, label });
        this.#heads.append(label);
      }
    }
  }

  // Shows the words of the sentence as buttons. If the user has edited the sentence, the picked word stays picked. If
  // the sentence no longer has this word, picks the word 'it'. Without an 'it', picks the last word.
  #showWords(): void {
    const words = wordsOf(this.#attended!.tokens).filter(({ special }) => this.#special.checked || !special);
    const before = this.#chips.find(({ choice }) => choice.checked)?.word;
    const picked =
      words.find(({ text, first }) => text === before?.text && first === before.first) ??
      words.find(({ text }) => text === before?.text) ??
      words.find(({ text }) => text === "it") ??
      words.at(-1);
    const focused = this.#chips.some(({ choice }) => choice === document.activeElement);
    this.#chips = words.map((word) => this.#makeChip(word, word === picked));
    const legend = this.#words.querySelector("legend")!;
    this.#words.replaceChildren(legend, ...this.#chips.map(({ label }) => label));
    if (focused) this.#chips.find(({ choice }) => choice.checked)?.choice.focus();
    this.#draw();
  }

  #makeChip(word: Word, picked: boolean): Chip {
    const choice = make("input", { type: "radio", name: "attention-word", class: "unseen" });
    choice.checked = picked;
    choice.addEventListener("change", () => this.#draw());
    const share = make("span", { class: "share" });
    const label = make("label", { class: "word" }, choice, make("span", { class: "face" }, word.text), share);
    return { word, choice, label, share };
  }

  #map(panel: number): Float32Array {
    const { maps, tokens } = this.#attended!;
    const size = tokens.length ** 2;
    return maps.subarray(panel * size, (panel + 1) * size);
  }

  #draw(): void {
    const from = this.#chips.find(({ choice }) => choice.checked)?.word;
    if (!this.#attended || !from) {
      this.#explanation.textContent = "No words to look at.";
      return;
    }
    const words = this.#chips.map(({ word }) => word);
    const chosen = this.#panels.findIndex(({ choice }) => choice.checked);
    const shares = wordWeights(this.#map(chosen), from, words);
    this.#chips.forEach(({ label, share }, at) => {
      const { ground, ink } = heat(shares[at]!);
      label.style.backgroundColor = ground;
      label.style.color = ink;
      share.textContent = percent(shares[at]!);
    });
    this.#panels.forEach(({ canvas }, panel) => drawStripes(canvas, wordWeights(this.#map(panel), from, words)));
    this.#explain(from, words, shares, chosen);
    this.#fillTable(words, chosen);
  }

  #explain(from: Word, words: readonly Word[], shares: readonly number[], chosen: number): void {
    const ranked = words.map(({ text }, i) => ({ text, share: shares[i]! })).sort((a, b) => b.share - a.share);
    const most = ranked.slice(0, 2).map(({ text, share }) => `“${text}” (${percent(share)})`);
    const place = `Layer ${Math.floor(chosen / this.#headCount)}, head ${chosen % this.#headCount}`;
    const marks = 1 - shares.reduce((sum, share) => sum + share, 0);
    const rest = this.#special.checked ? "" : ` ${percent(Math.max(0, marks))} goes to the marks around the text.`;
    this.#explanation.textContent = `${place}: “${from.text}” looks most at ${most.join(", then ")}.${rest}`;
  }

  #fillTable(words: readonly Word[], chosen: number): void {
    const head = make("tr", {}, make("td"), ...words.map(({ text }) => make("th", { scope: "col" }, text)));
    const rows = words.map((word) => {
      const shares = wordWeights(this.#map(chosen), word, words).map((share) => make("td", {}, percent(share)));
      return make("tr", {}, make("th", { scope: "row" }, word.text), ...shares);
    });
    this.#table.replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
  }
}

// Draws a stripe for each word. The colour of a stripe shows the attention weight from the picked word to the stripe's
// word, in one head.
function drawStripes(canvas: HTMLCanvasElement, shares: readonly number[]): void {
  const { width, height } = canvas.getBoundingClientRect();
  const context = fitCanvas(canvas, width, height);
  if (!context) return;
  const stripe = width / shares.length;
  shares.forEach((share, at) => {
    context.fillStyle = heat(share).ground;
    context.fillRect(at * stripe, 0, stripe + 0.3, height);
  });
}
