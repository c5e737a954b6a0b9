// Ranks example sentences by stored embeddings, so that the page can show MiniLM before its weights are loaded.
import { similarity } from "../src/minilm.js";
import { byId, make } from "./dom.js";
import { directions, questions, sentences } from "./example-embeddings.js";
import { RankedList } from "./ranked-list.js";

/** Returns the unit vector in the direction of the int8 integers that `direction` encodes as base64. */
function decode(direction: string): Float32Array {
  const bytes = Uint8Array.from(atob(direction), (character) => character.charCodeAt(0));
  const integers = new Int8Array(bytes.buffer);
  const length = Math.sqrt(integers.reduce((sum, value) => sum + value * value, 0));
  return Float32Array.from(integers, (value) => value / length);
}

export class ExampleRanking {
  readonly #card = byId("example", HTMLElement);
  readonly #list = new RankedList(byId("example-ranking", HTMLOListElement));
  readonly #buttons: readonly HTMLButtonElement[];
  readonly #embeddings = directions.map(decode);

  constructor() {
    this.#buttons = questions.map((question, i) => {
      const button = make("button", { type: "button", "aria-pressed": "false" }, question);
      button.addEventListener("click", () => this.#rank(i));
      return button;
    });
    byId("example-questions", HTMLElement).replaceChildren(...this.#buttons);
    this.#rank(0);
  }

  set isShown(shown: boolean) {
    this.#card.hidden = !shown;
  }

  #rank(question: number): void {
    this.#buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === question)));
    const asked = this.#embeddings[sentences.length + question]!;
    this.#list.show(sentences.map((text, i) => ({ text, score: similarity(asked, this.#embeddings[i]!) })));
  }
}
