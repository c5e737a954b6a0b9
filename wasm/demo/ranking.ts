// Ranks a list of sentences by their similarity to the typed sentence.
import { similarity } from "../src/minilm.js";
import { byId, settled, showProblem } from "./dom.js";
import { sentences } from "./example-embeddings.js";
import { duration } from "./format.js";
import { RankedList } from "./ranked-list.js";
import type { SentenceModel } from "./sentence-model.js";

interface Entry {
  readonly text: string;
  embedding?: Float32Array;
}

export class Ranking {
  readonly #text = byId("ranking-text", HTMLInputElement);
  readonly #lines = byId("ranking-list", HTMLTextAreaElement);
  readonly #list = new RankedList(byId("ranking", HTMLOListElement));
  readonly #answer = byId("ranking-answer", HTMLElement);
  #entries: Entry[] = [];
  #asked = 0;

  constructor(private readonly model: () => SentenceModel) {
    this.#lines.value = sentences.join("\n");
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

  /**
   * Drops the embeddings after a change of the model or precision, because embeddings of two models are not comparable.
   */
  reset(): void {
    this.#entries = [];
  }

  /** Embeds the sentences of the list and ranks them. */
  async open(): Promise<void> {
    const known = new Map(this.#entries.map((entry) => [entry.text, entry]));
    this.#entries = this.texts.map((text) => known.get(text) ?? { text });
    await this.rank();
  }

  // Embeds the typed sentence and ranks the list. If several calls are pending, only the result of the last is shown.
  async rank(): Promise<void> {
    const asked = ++this.#asked;
    const entries = this.#entries;
    try {
      for (const entry of entries) entry.embedding ??= (await this.model().embed(entry.text)).embedding;
      const { embedding, tokens, milliseconds } = await this.model().embed(this.#text.value);
      if (asked !== this.#asked) return;
      const scored = entries.map((entry) => ({ text: entry.text, score: similarity(embedding, entry.embedding!) }));
      this.#list.show(scored);
      const [first, ...others] = scored;
      const best = others.reduce((one, other) => (other.score > one!.score ? other : one), first);
      this.#answer.textContent = `Closest: ${best?.text ?? "nothing"}`;
      byId("ranking-time", HTMLElement).textContent = `${tokens} tokens in ${duration(milliseconds)}`;
    } catch (problem) {
      showProblem(byId("sentences-problem", HTMLElement), problem);
    }
  }
}
