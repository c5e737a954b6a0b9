// The panel of the stories: a model of 260 thousand weights continues a text, token by token.
import { Generator, type Model } from "../src/model.js";
import { Tokenizer } from "../src/tokenizer.js";
import { byId, fillFrom, settled, showFacts, showProblem } from "./dom.js";
import { bytes, grouped } from "./format.js";
import { loadStories, storiesBytes } from "./stories-model.js";

export async function start(): Promise<void> {
  const file = new URL("stories/tokenizer.json", document.baseURI);
  const [{ model, eos }, tokenizer] = await Promise.all([loadStories(), Tokenizer.load(file)]);
  new Stories(model, new Generator(model, { tokenizer, eos }), tokenizer);
}

class Stories {
  readonly #prompt = byId("story-prompt", HTMLInputElement);
  readonly #temperature = byId("story-temperature", HTMLInputElement);
  readonly #write = byId("story-write", HTMLButtonElement);
  readonly #stop = byId("story-stop", HTMLButtonElement);
  readonly #text = byId("story-text", HTMLElement);
  readonly #problem = byId("stories-problem", HTMLElement);
  // Screen readers read the story when it has ended.
  readonly #announce = settled(300, () => this.#text.setAttribute("aria-busy", "false"));
  #abort: AbortController | undefined;

  constructor(
    readonly model: Model,
    readonly generator: Generator,
    readonly tokenizer: Tokenizer,
  ) {
    fillFrom(byId("story-examples", HTMLElement), this.#prompt);
    byId("story-form", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      void this.write();
    });
    this.#stop.addEventListener("click", () => this.#abort?.abort());
    this.#write.disabled = false;
    this.#showFacts(0, 0);
  }

  async write(): Promise<void> {
    this.#abort?.abort();
    const abort = (this.#abort = new AbortController());
    showProblem(this.#problem);
    this.#text.setAttribute("aria-busy", "true");
    this.#text.textContent = this.#prompt.value;
    this.#stop.disabled = false;
    let tokens = 0;
    const begin = performance.now();
    try {
      const temperature = Number(this.#temperature.value);
      for await (const { text } of this.generator.generate(this.#prompt.value, { temperature, signal: abort.signal })) {
        this.#text.append(text);
        this.#showFacts(++tokens, performance.now() - begin);
      }
    } catch (error) {
      if (!abort.signal.aborted) showProblem(this.#problem, error);
    }
    if (abort !== this.#abort) return; // another story has begun
    this.#stop.disabled = true;
    this.#announce();
  }

  #showFacts(tokens: number, milliseconds: number): void {
    const { variant } = this.model.description;
    const rate = tokens ? `${Math.round((1000 * tokens) / milliseconds)} tokens` : "–";
    showFacts(byId("story-facts", HTMLElement), [
      ["Speed", rate, "a second"],
      ["Tokens", grouped(tokens), "of this story"],
      ["Weights", bytes(storiesBytes), "of float32"],
      ["Module", variant, "the whole model"],
    ]);
  }
}
