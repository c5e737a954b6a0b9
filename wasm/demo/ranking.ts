// Ranks a list of sentences by their similarity to the typed sentence.
import { similarity } from "../src/minilm.js";
import { byId, make, settled, showProblem } from "./dom.js";
import { duration } from "./format.js";
import type { SentenceModel } from "./sentence-model.js";

const given = [
  "We refund any order within thirty days.",
  "The parcel is on its way and arrives on Tuesday.",
  "Reset your password from the sign-in page.",
  "The museum is closed on Mondays.",
  "Bring the soup to a boil, then let it simmer.",
  "Our office moved to the second floor.",
  "A storm is expected along the coast tonight.",
  "She learned to play the violin as a child.",
  "The battery lasts about ten hours.",
  "Dogs need a walk twice a day.",
];
const calm = matchMedia("(prefers-reduced-motion: reduce)");

interface Entry {
  readonly text: string;
  readonly item: HTMLLIElement;
  readonly score: HTMLElement;
  embedding?: Float32Array;
}

export class Ranking {
  readonly #text = byId("ranking-text", HTMLInputElement);
  readonly #lines = byId("ranking-list", HTMLTextAreaElement);
  readonly #list = byId("ranking", HTMLOListElement);
  readonly #answer = byId("ranking-answer", HTMLElement);
  #entries: Entry[] = [];
  #asked = 0;

  constructor(private readonly model: () => SentenceModel) {
    this.#lines.value = given.join("\n");
    this.#text.addEventListener(
      "input",
      settled(80, () => void this.rank()),
    );
    this.#lines.addEventListener(
      "input",
      settled(400, () => void this.open()),
    );
  }

  /** The sentences of the list. */
  get texts(): string[] {
    const texts = this.#lines.value
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
    return [...new Set(texts)];
  }

  /** Drops the embeddings, because another model or precision computed the embeddings. */
  reset(): void {
    this.#entries = [];
  }

  /** Embeds the sentences of the list and ranks them. */
  async open(): Promise<void> {
    const known = new Map(this.#entries.map((entry) => [entry.text, entry]));
    this.#entries = this.texts.map((text) => known.get(text) ?? makeEntry(text));
    this.#list.replaceChildren(...this.#entries.map(({ item }) => item));
    await this.rank();
  }

  // If several requests are pending, only the answer to the last request is shown.
  async rank(): Promise<void> {
    const asked = ++this.#asked;
    const entries = this.#entries;
    try {
      for (const entry of entries) entry.embedding ??= (await this.model().embed(entry.text)).embedding;
      const { embedding, tokens, milliseconds } = await this.model().embed(this.#text.value);
      if (asked !== this.#asked) return;
      const scored = entries.map((entry) => ({ entry, score: similarity(embedding, entry.embedding!) }));
      scored.sort((a, b) => b.score - a.score);
      this.#show(scored);
      this.#answer.textContent = `Closest: ${scored[0]?.entry.text ?? "nothing"}`;
      byId("ranking-time", HTMLElement).textContent = `${tokens} tokens in ${duration(milliseconds)}`;
    } catch (problem) {
      showProblem(byId("sentences-problem", HTMLElement), problem);
    }
  }

  #show(scored: readonly { entry: Entry; score: number }[]): void {
    const before = new Map(this.#entries.map(({ item }) => [item, item.offsetTop]));
    for (const { entry, score } of scored) {
      entry.item.style.setProperty("--share", String(Math.max(0, score)));
      entry.score.textContent = score.toFixed(3).replace("-", "−");
      this.#list.append(entry.item);
    }
    if (calm.matches) return;
    for (const [item, top] of before) {
      const moved = top - item.offsetTop;
      if (moved === 0) continue;
      item.animate([{ transform: `translateY(${moved}px)` }, {}], { duration: 220, easing: "ease-out" });
    }
  }
}

function makeEntry(text: string): Entry {
  const score = make("span", { class: "score" });
  return { text, score, item: make("li", {}, make("span", { class: "text" }, text), score) };
}
