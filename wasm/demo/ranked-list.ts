// Shows a list of texts with scores, the best at the top. If the order changes, each text moves to its new place.
import { make } from "./dom.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");

export interface Scored {
  readonly text: string;
  readonly score: number;
}

interface Item {
  readonly element: HTMLLIElement;
  readonly score: HTMLElement;
}

export class RankedList {
  #items = new Map<string, Item>();

  constructor(private readonly list: HTMLOListElement) {}

  /** Replaces the texts of the list. The texts must be distinct. */
  show(scored: readonly Scored[]): void {
    const before = new Map([...this.#items.values()].map(({ element }) => [element, element.offsetTop]));
    const ranked = [...scored].sort((a, b) => b.score - a.score);
    this.#items = new Map(ranked.map(({ text }) => [text, this.#items.get(text) ?? makeItem(text)]));
    for (const { text, score } of ranked) {
      const item = this.#items.get(text)!;
      item.element.style.setProperty("--share", String(Math.max(0, score)));
      item.score.textContent = scoreText(score);
    }
    this.list.replaceChildren(...ranked.map(({ text }) => this.#items.get(text)!.element));
    if (!calm.matches) this.#move(before);
  }

  #move(before: ReadonlyMap<HTMLLIElement, number>): void {
    for (const { element } of this.#items.values()) {
      const moved = (before.get(element) ?? element.offsetTop) - element.offsetTop;
      if (moved === 0) continue;
      element.animate([{ transform: `translateY(${moved}px)` }, {}], { duration: 220, easing: "ease-out" });
    }
  }
}

const scoreText = (score: number) => score.toFixed(3).replace("-0.000", "0.000").replace("-", "−");

function makeItem(text: string): Item {
  const score = make("span", { class: "score" });
  return { element: make("li", {}, make("span", { class: "text" }, text), score), score };
}
