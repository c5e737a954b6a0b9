// The panel of MiniLM. The user first loads the weights. Then the panel shows the attention of words, sentences ranked
// by meaning, and a comparison of int8 with float32.
import { Comparison } from "./comparison.js";
import { byId, make, showFacts, showProblem } from "./dom.js";
import { ExampleRanking } from "./example-ranking.js";
import { bytes, duration } from "./format.js";
import { ModelChoice } from "./model-choice.js";
import { forgetModel, keptModel } from "./model-store.js";
import { PrecisionChoice } from "./precision-choice.js";
import { Ranking } from "./ranking.js";
import type { LoadedModel } from "./sentence-messages.js";
import { SentenceModel } from "./sentence-model.js";
import { WordAttention } from "./word-attention.js";

export async function start(): Promise<void> {
  const page = new Sentences();
  const kept = await keptModel();
  if (!kept) return;
  page.precision.value = kept.precision;
  await page.choice.load({ from: "store" });
}

class Sentences {
  readonly precision = new PrecisionChoice("precision", () => void this.#changePrecision());
  readonly choice: ModelChoice;
  #model = new SentenceModel();
  #loaded: LoadedModel | undefined;
  readonly #tools = byId("sentence-tools", HTMLElement);
  readonly #example = new ExampleRanking();
  readonly #problem = byId("sentences-problem", HTMLElement);
  readonly #save = byId("model-save", HTMLButtonElement);
  readonly #attention = new WordAttention(
    () => this.#model,
    (time, tokens) => this.#showFacts(time, tokens),
  );
  readonly #ranking = new Ranking(() => this.#model);
  readonly #comparison = new Comparison(
    () => this.#model,
    () => this.#ranking.texts,
    () => this.#loadOther(),
  );

  constructor() {
    this.choice = new ModelChoice(
      () => this.#model,
      this.precision,
      (loaded) => this.#open(loaded),
    );
    byId("model-forget", HTMLButtonElement).addEventListener("click", () => void this.#forget());
    this.#save.addEventListener("click", () => void this.#saveInt8File());
  }

  get #facts() {
    return this.#loaded?.facts[this.precision.value];
  }

  async #open(loaded: LoadedModel): Promise<void> {
    this.#loaded = loaded;
    this.choice.hide();
    this.#save.hidden = !loaded.facts.int8;
    const notKept = loaded.notKept && `The model works but could not be kept for the next visit: ${loaded.notKept}`;
    showProblem(this.#problem, notKept);
    try {
      await this.#use();
      await this.#model.warm(this.precision.value);
      // The engine has optimised the kernel now, so the times that the page shows are measured again.
      await this.#attention.ask();
      await this.#ranking.rank();
      await this.#comparison.open(loaded);
    } catch (problem) {
      showProblem(this.#problem, problem);
    }
  }

  /** Shows the attention of words and the ranking of sentences in the chosen precision, which must be loaded. */
  async #use(): Promise<void> {
    this.#model.precision = this.precision.value;
    this.#showTools(true);
    this.#showFacts();
    this.#ranking.reset();
    await this.#attention.open(this.#loaded!.layers, this.#loaded!.heads);
    await this.#ranking.open();
  }

  /**
   * Shows the attention of words and the ranking of sentences if `shown` is true. Otherwise, shows the example ranking
   * in their place.
   */
  #showTools(shown: boolean): void {
    this.#tools.hidden = !shown;
    this.#example.isShown = !shown;
  }

  /**
   * Switches to the chosen precision. If its weights are not loaded, shows the form with a message that names the
   * missing file.
   */
  async #changePrecision(): Promise<void> {
    if (!this.#loaded) return;
    if (this.#facts) {
      this.choice.hide();
      await this.#use();
    } else {
      this.#showTools(false);
      this.choice.show(this.#loaded.missing);
    }
  }

  #loadOther(): void {
    this.choice.show(this.#loaded?.missing);
    this.choice.focus();
  }

  async #saveInt8File(): Promise<void> {
    try {
      const url = URL.createObjectURL(await this.#model.int8File());
      make("a", { href: url, download: "model.int8.safetensors" }).click();
      setTimeout(() => URL.revokeObjectURL(url), 60_000); // browsers read the URL after the click
    } catch (problem) {
      showProblem(this.#problem, problem);
    }
  }

  async #forget(): Promise<void> {
    this.#model.stop();
    this.#model = new SentenceModel();
    this.#loaded = undefined;
    this.#comparison.close();
    await forgetModel();
    this.#showTools(false);
    this.choice.show();
    this.choice.focus();
  }

  #showFacts(milliseconds?: number, tokens?: number): void {
    const facts = this.#facts;
    if (!facts) return;
    showFacts(byId("sentence-facts", HTMLElement), [
      [
        "A sentence",
        milliseconds === undefined ? "…" : duration(milliseconds),
        tokens === undefined ? "" : `${tokens} tokens`,
      ],
      facts.module,
      ["Weights", bytes(facts.weightBytes), "used where they were loaded"],
      ["Memory", bytes(facts.memoryBytes), `workspace ${bytes(facts.workspaceBytes)}`],
    ]);
  }
}
