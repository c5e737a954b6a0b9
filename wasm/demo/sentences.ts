// MiniLM: first its weights, by the user's choice; then where words look, and sentences ranked by meaning.
import { byId, showFacts, showProblem } from "./dom.js";
import { bytes, duration } from "./format.js";
import { ModelChoice } from "./model-choice.js";
import { forgetModel, keptModel } from "./model-store.js";
import { Ranking } from "./ranking.js";
import type { ModelFacts } from "./sentence-messages.js";
import { SentenceModel } from "./sentence-model.js";
import { WordAttention } from "./word-attention.js";

export async function start(): Promise<void> {
  const page = new Sentences();
  if (await keptModel()) await page.choice.load({ from: "store" });
}

class Sentences {
  readonly choice: ModelChoice;
  #model = new SentenceModel();
  #facts: ModelFacts | undefined;
  readonly #attention = new WordAttention(
    () => this.#model,
    (time, tokens) => this.#showFacts(time, tokens),
  );
  readonly #ranking = new Ranking(() => this.#model);

  constructor() {
    this.choice = new ModelChoice(
      () => this.#model,
      (facts) => this.#open(facts),
    );
    byId("model-forget", HTMLButtonElement).addEventListener("click", () => void this.#forget());
  }

  async #open(facts: ModelFacts): Promise<void> {
    this.#facts = facts;
    this.choice.hide();
    byId("sentence-tools", HTMLElement).hidden = false;
    this.#showFacts();
    const notKept = facts.notKept && `The model works but could not be kept for the next visit: ${facts.notKept}`;
    showProblem(byId("sentences-problem", HTMLElement), notKept);
    await this.#attention.open(facts.layers, facts.heads);
    await this.#ranking.open();
    // The figures again, as they are from now on.
    await this.#model.warm();
    await this.#attention.ask();
    await this.#ranking.rank();
  }

  async #forget(): Promise<void> {
    this.#model.stop();
    this.#model = new SentenceModel();
    await forgetModel();
    byId("sentence-tools", HTMLElement).hidden = true;
    this.choice.show();
  }

  #showFacts(milliseconds?: number, tokens?: number): void {
    const facts = this.#facts!;
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
