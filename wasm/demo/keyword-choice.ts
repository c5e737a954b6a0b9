// Handles the HTML form in which the user chooses the source of KWT-1's weights.
import { byId, showProblem } from "./dom.js";
import { bytes } from "./format.js";
import { remoteFile } from "./model-choice.js";
import type { KeywordSource } from "./keyword-store.js";
import type { Progress } from "./weight-file.js";

export class KeywordChoice {
  readonly #form = byId("keyword-choice", HTMLFormElement);
  readonly #actions = byId("keyword-actions", HTMLElement);
  readonly #fetch = byId("keyword-fetch", HTMLButtonElement);
  readonly #file = byId("keyword-file", HTMLInputElement);
  readonly #progress = byId("keyword-progress", HTMLElement);
  readonly #bar = byId("keyword-bar", HTMLProgressElement);
  readonly #text = byId("keyword-progress-text", HTMLElement);
  readonly #cancel = byId("keyword-cancel", HTMLButtonElement);
  readonly #problem = byId("keyword-problem", HTMLElement);
  #loading = new AbortController();

  /** The form calls `load` with the source that the user chose. `load` loads KWT-1, and throws if this fails. */
  constructor(
    private readonly load: (source: KeywordSource, signal: AbortSignal, progress: Progress) => Promise<void>,
  ) {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.open({ from: "network", weights: remoteFile("keyword-url") });
    });
    this.#file.addEventListener("change", () => {
      const [weights] = this.#file.files ?? [];
      if (weights) void this.open({ from: "disk", weights });
      this.#file.value = ""; // so that the user can choose the same file again
    });
    this.#cancel.addEventListener("click", () => this.#loading.abort());
  }

  show(): void {
    this.#form.hidden = false;
  }

  focus(): void {
    this.#fetch.focus();
  }

  /** Loads the model, and then hides the form. After an error, the form shows the message. */
  async open(source: KeywordSource): Promise<void> {
    const { signal } = (this.#loading = new AbortController());
    showProblem(this.#problem);
    this.#setBusy(true);
    try {
      await this.load(source, signal, (done, total) => this.#showProgress(done, total));
      this.#form.hidden = true;
    } catch (problem) {
      this.show();
      if (!signal.aborted) showProblem(this.#problem, problem);
    } finally {
      this.#setBusy(false);
    }
  }

  #setBusy(busy: boolean): void {
    const hadFocus = this.#form.contains(document.activeElement);
    this.#progress.hidden = !busy;
    this.#actions.inert = busy;
    this.#actions.classList.toggle("busy", busy);
    this.#bar.removeAttribute("value");
    this.#text.textContent = "Loading the model";
    if (hadFocus && !this.#form.hidden) (busy ? this.#cancel : this.#fetch).focus();
  }

  #showProgress(done: number, total: number): void {
    if (total) this.#bar.value = done / total;
    this.#text.textContent = total ? `Fetching: ${bytes(done)} of ${bytes(total)}` : `Fetching: ${bytes(done)}`;
  }
}
