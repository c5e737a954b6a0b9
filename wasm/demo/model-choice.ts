// The form with which the user lets the page load MiniLM's weights.
import { byId, showProblem } from "./dom.js";
import { bytes } from "./format.js";
import type { LoadedModel, LoadProgress, ModelSource, RemoteFile } from "./sentence-messages.js";
import { Cancelled, type SentenceModel } from "./sentence-model.js";
import type { PrecisionChoice } from "./precision-choice.js";

// The page knows the checksums of the files at its default addresses. A file from another address, or from the user's
// disk, is the user's choice, and needs no checksum.
export function remoteFile(id: string): RemoteFile {
  const { value: url, defaultValue, dataset } = byId(id, HTMLInputElement);
  return url === defaultValue ? { url, sha256: dataset.sha256 } : { url };
}

export class ModelChoice {
  readonly #form = byId("model-choice", HTMLFormElement);
  readonly #actions = byId("model-actions", HTMLElement);
  readonly #fetch = byId("model-fetch", HTMLButtonElement);
  readonly #files = byId("model-files", HTMLInputElement);
  readonly #progress = byId("model-progress", HTMLElement);
  readonly #bar = byId("model-bar", HTMLProgressElement);
  readonly #text = byId("model-progress-text", HTMLElement);
  readonly #cancel = byId("model-cancel", HTMLButtonElement);
  readonly #problem = byId("model-problem", HTMLElement);

  constructor(
    private readonly model: () => SentenceModel,
    private readonly precision: PrecisionChoice,
    private readonly loaded: (model: LoadedModel) => Promise<void>,
  ) {
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.load({ from: "network", weights: remoteFile("weights-url"), vocabulary: remoteFile("vocabulary-url") });
    });
    this.#files.addEventListener("change", () => this.#takeFiles());
    this.#cancel.addEventListener("click", () => this.model().cancel());
    // Until this line runs, the form is visible but inert, because a click before the script is loaded would be lost.
    this.#form.inert = false;
  }

  /** Shows the form and `reason`, a message that says why the user has to choose a file. */
  show(reason?: string): void {
    showProblem(this.#problem, reason);
    this.#form.hidden = false;
  }

  focus(): void {
    this.#fetch.focus();
  }

  hide(): void {
    const hadFocus = this.#form.contains(document.activeElement);
    this.#form.hidden = true;
    if (hadFocus) this.precision.focus();
  }

  /** Loads the model. After an error, the form shows the message, and a model that was loaded before stays loaded. */
  async load(source: ModelSource): Promise<void> {
    const loaded = await this.#load(source);
    if (loaded) await this.loaded(loaded);
  }

  async #load(source: ModelSource): Promise<LoadedModel | undefined> {
    showProblem(this.#problem);
    this.#setBusy(true, source);
    try {
      return await this.model().load(source, this.precision.value, (progress) => this.#showProgress(progress));
    } catch (problem) {
      if (!(problem instanceof Cancelled)) showProblem(this.#problem, problem);
      return undefined;
    } finally {
      this.#setBusy(false, source);
    }
  }

  #takeFiles(): void {
    const files = Array.from(this.#files.files ?? []);
    this.#files.value = ""; // so that the user can choose the same files again
    const weights = files.find(({ name }) => name.endsWith(".safetensors"));
    const vocabulary = files.find(({ name }) => name.endsWith(".txt"));
    if (weights && vocabulary) void this.load({ from: "disk", weights, vocabulary });
    else showProblem(this.#problem, "Choose two files at once: one .safetensors and one .txt");
  }

  #setBusy(busy: boolean, source: ModelSource): void {
    const hadFocus = this.#form.contains(document.activeElement);
    this.precision.isBusy = busy;
    this.#progress.hidden = !busy;
    this.#actions.inert = busy;
    this.#actions.classList.toggle("busy", busy);
    this.#bar.removeAttribute("value");
    this.#text.textContent = source.from === "store" ? "Loading the kept model" : "Loading the model";
    if (hadFocus && !this.#form.hidden) (busy ? this.#cancel : this.#fetch).focus();
  }

  #showProgress({ step, bytes: done, total }: LoadProgress): void {
    if (total) this.#bar.value = done / total;
    else this.#bar.removeAttribute("value");
    this.#text.textContent = total ? `${step}: ${bytes(done)} of ${bytes(total)}` : `${step}: ${bytes(done)}`;
  }
}
