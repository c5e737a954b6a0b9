// The panel of the keyword spotter: words from the microphone, from recordings and from files, and the attention of the
// model.
import type { ShippedPrecision as Precision } from "../src/index.js";
import { type Hearing, KeywordSpotter, Microphone, type SpottedWord, type Spotting } from "../src/keywords.js";
import { byId, make, showFacts, showProblem } from "./dom.js";
import { bytes, duration, grouped, percent } from "./format.js";
import { heat, onHeatChange } from "./heat.js";
import { KeywordChoice } from "./keyword-choice.js";
import { KeywordPicture } from "./keyword-picture.js";
import { forgetKeywords, keepKeywords, type KeywordSource, keptKeywords, keywordWeights } from "./keyword-store.js";
import { memoryOf, moduleFact } from "./module-fact.js";
import { PrecisionChoice } from "./precision-choice.js";
import { decodeSound } from "./sound.js";
import { timeOf } from "./timing.js";
import type { Progress } from "./weight-file.js";

// build-demo.mjs defines keywordFiles. It lists the files of KWT-1 that the server has in the folder `keywords` of the
// page.
declare const keywordFiles: { readonly model: boolean; readonly recordings: readonly string[] };

const besidePage = {
  url: "keywords/kwt1.safetensors",
  sha256: "6e17369bd5ec21854b277196c308dfc09ee31d81d23dfced3285750a1f4d6199",
};
const parameters = 607_308;
const stride = 100; // milliseconds between two windows, and between two pictures
const calmStride = 1000; // milliseconds between two pictures, if the user prefers little motion
const wordsShown = 24;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

const names: Readonly<Record<string, string>> = { _silence_: "silence", _unknown_: "other" };
const nameOf = (label: string) => names[label] ?? label;

export async function start(): Promise<void> {
  const panel = new Keywords();
  const weights = await keptKeywords();
  if (weights) await panel.choice.open({ from: "store", weights });
  else if (keywordFiles.model) await panel.choice.open({ from: "network", weights: besidePage });
  else panel.choice.show();
}

/**
 * A recording or a sound file. All samples of the sound are known from the beginning, unlike the samples of the
 * microphone.
 */
interface Sound {
  readonly name: string;
  readonly samples: Float32Array;
}

class Keywords {
  readonly choice = new KeywordChoice((...about) => this.#load(...about));
  readonly #precision = new PrecisionChoice("keyword-precision", () => void this.#changePrecision());
  readonly #problem = byId("words-problem", HTMLElement);
  readonly #tools = byId("keyword-tools", HTMLElement);
  readonly #listen = byId("keyword-listen", HTMLButtonElement);
  readonly #answer = byId("keyword-answer", HTMLOutputElement);
  readonly #note = byId("keyword-note", HTMLElement);
  readonly #words = byId("keyword-words", HTMLOListElement);
  readonly #noWords = byId("keyword-no-words", HTMLElement);
  readonly #picture = new KeywordPicture();
  readonly #labels = new LabelList();
  #models: Readonly<Partial<Record<Precision, KeywordSpotter>>> = {};
  #microphone: Microphone | undefined;
  #isOpening = false;
  #sound: Sound | undefined;
  #times: number[] = []; // the computation times of the last windows, in milliseconds
  #pictureTime = -Infinity;
  #wordTime = -Infinity;

  constructor() {
    this.#listen.addEventListener("click", () => void (this.#microphone ? this.#stop() : this.#open()));
    byId("keyword-forget", HTMLButtonElement).addEventListener("click", () => void this.#forget());
    const file = byId("keyword-sound", HTMLInputElement);
    file.addEventListener("change", () => {
      void this.#takeFile(file.files?.[0]);
      file.value = "";
    });
    this.#addRecordings();
    const panel = byId("words", HTMLElement);
    this.#addDrop(panel);
    const stopIfHidden = () => void (panel.hidden && this.#stop());
    new MutationObserver(stopIfHidden).observe(panel, { attributeFilter: ["hidden"] });
  }

  get #model(): KeywordSpotter {
    return this.#models[this.#precision.value]!;
  }

  async #load(source: KeywordSource, signal: AbortSignal, progress: Progress): Promise<void> {
    this.#precision.isBusy = true;
    try {
      const weights = await keywordWeights(source, signal, progress);
      const load = (precision: Precision) => KeywordSpotter.load({ weights, precision, stride, signal });
      const [int8, float32] = await Promise.all([load("int8"), load("float32")]);
      this.#models = { int8, float32 };
      if (source.from !== "store") await this.#keep(weights);
    } finally {
      this.#precision.isBusy = false;
    }
    this.#tools.hidden = false;
    this.#showFacts();
    await this.#hearFirst();
    void this.#warmUp(); // the user can use the model before the engine has optimised the code
  }

  /**
   * Stores the weights for the next visit. If they cannot be stored, the model still works, and the panel shows the
   * error.
   */
  async #keep(weights: Blob): Promise<void> {
    await keepKeywords(weights).catch((problem: Error) => {
      showProblem(this.#problem, `The model works but could not be kept for the next visit: ${problem.message}`);
    });
  }

  async #forget(): Promise<void> {
    await this.#stop();
    for (const model of Object.values(this.#models)) model.free();
    this.#models = {};
    await forgetKeywords();
    this.#tools.hidden = true;
    this.choice.show();
    this.choice.focus();
  }

  async #warmUp(): Promise<void> {
    for (const model of Object.values(this.#models)) await model.kernel.warmUp({ attention: true, tokens: 99 });
    this.#measure();
  }

  async #changePrecision(): Promise<void> {
    if (!this.#models[this.#precision.value]) return;
    this.#times = [];
    this.#showFacts();
    if (this.#microphone) this.#model.clear();
    else if (this.#sound) this.#hear(this.#sound);
    this.#measure();
  }

  // Processes the first recording, or silence if no recording is present.
  async #hearFirst(): Promise<void> {
    const [first] = keywordFiles.recordings;
    if (first === undefined) this.#hear({ name: "", samples: new Float32Array(16000) });
    else await this.#takeRecording(first);
  }

  #addRecordings(): void {
    const group = byId("keyword-recordings", HTMLElement);
    group.hidden = keywordFiles.recordings.length === 0;
    const buttons = keywordFiles.recordings.map((name) => {
      const text = ["yes", "no"].includes(name) ? `“${name}”` : name;
      const button = make("button", { type: "button" }, text);
      button.addEventListener("click", () => void this.#takeRecording(name));
      return button;
    });
    group.replaceChildren(...buttons);
  }

  #addDrop(panel: HTMLElement): void {
    const picture = byId("keyword-picture", HTMLElement);
    panel.addEventListener("dragover", (event) => {
      event.preventDefault();
      picture.classList.add("dropping");
    });
    panel.addEventListener("dragleave", () => picture.classList.remove("dropping"));
    panel.addEventListener("drop", (event) => {
      event.preventDefault();
      picture.classList.remove("dropping");
      void this.#takeFile(event.dataTransfer?.files[0]);
    });
  }

  async #takeRecording(name: string): Promise<void> {
    await this.#attempt(async () => {
      const url = `keywords/${name}_1000ms.wav`;
      const response = await fetch(url);
      if (!response.ok) throw new Error(`${url}: answered with status ${response.status}`);
      await this.#take(await response.blob(), name);
    });
  }

  async #takeFile(file: File | undefined): Promise<void> {
    if (file && !this.#tools.hidden) await this.#attempt(() => this.#take(file, file.name));
  }

  async #take(content: Blob, name: string): Promise<void> {
    const samples = await decodeSound(content, name);
    await this.#stop();
    this.#hear({ name, samples });
    this.#measure();
  }

  /** Runs `action`. If `action` fails, shows the message of the error in the panel. */
  async #attempt(action: () => Promise<void>): Promise<void> {
    showProblem(this.#problem);
    try {
      await action();
    } catch (problem) {
      showProblem(this.#problem, problem);
    }
  }

  #hear(sound: Sound): void {
    this.#sound = sound;
    const found = this.#model.spot(sound.samples);
    this.#answer.setAttribute("aria-live", "polite");
    this.#showAnswer(nameOf(found.label), found.label.startsWith("_"));
    const place = found.words.length > 0 ? `, in the second from ${found.start.toFixed(1)} s` : "";
    this.#note.textContent = `${percent(found.probability)}${place}`;
    this.#showWords(found.words);
    this.#draw(found, false);
    this.#picture.explain();
  }

  async #open(): Promise<void> {
    if (this.#isOpening) return;
    this.#isOpening = true;
    this.#showAnswer("waiting for the microphone", true);
    this.#note.textContent = "";
    await this.#attempt(async () => {
      this.#microphone = await Microphone.open({
        samples: (samples) => this.#listenTo(samples),
        ended: () => {
          void this.#stop();
          showProblem(this.#problem, "The microphone was closed.");
        },
      });
      this.#sound = undefined;
      this.#times = [];
      this.#showWords([]);
      this.#answer.setAttribute("aria-live", "off"); // screen readers announce the list of words instead
      this.#showAnswer("listening", true);
      this.#note.textContent = "";
      this.#setListening(true);
    });
    if (!this.#microphone) this.#showAnswer("no microphone", true);
    this.#isOpening = false;
  }

  async #stop(): Promise<void> {
    const microphone = this.#microphone;
    if (!microphone) return;
    this.#microphone = undefined;
    await microphone.stop();
    this.#model?.clear();
    this.#setListening(false);
    this.#showAnswer("stopped", true);
    this.#note.textContent = "";
    this.#picture.explain();
  }

  #setListening(listening: boolean): void {
    this.#listen.setAttribute("aria-pressed", String(listening));
    this.#listen.textContent = listening ? "Stop the microphone" : "Use the microphone";
  }

  #listenTo(samples: Float32Array): void {
    if (!this.#microphone) return;
    for (const heard of this.#model.push(samples)) this.#takeWindow(heard);
  }

  #takeWindow(heard: Hearing): void {
    const now = performance.now();
    this.#times = [...this.#times, heard.milliseconds].slice(-40);
    if (heard.word) {
      this.#wordTime = now;
      this.#addWord(heard.word);
      this.#showAnswer(nameOf(heard.word.label), false);
      this.#note.textContent = percent(heard.word.probability);
      this.#picture.explain();
    } else if (now - this.#wordTime > 1500) {
      this.#showAnswer("listening", true);
      this.#note.textContent = "";
    }
    const isDue = now - this.#pictureTime >= (calm.matches ? calmStride : 0);
    if (!heard.word && !isDue) return;
    this.#pictureTime = now;
    this.#draw(heard, true);
    this.#showFacts(this.#times.reduce((sum, time) => sum + time, 0) / this.#times.length);
  }

  #draw(spotting: Spotting, isLive: boolean): void {
    this.#picture.show(spotting, isLive);
    this.#labels.show(spotting.probabilities);
  }

  #showAnswer(text: string, isNone: boolean): void {
    if (this.#answer.textContent !== text) this.#answer.textContent = text;
    this.#answer.classList.toggle("none", isNone);
  }

  #showWords(words: readonly SpottedWord[]): void {
    this.#words.replaceChildren();
    this.#noWords.hidden = false;
    words.forEach((word) => this.#addWord(word));
  }

  #addWord({ label, probability, start }: SpottedWord): void {
    this.#noWords.hidden = true;
    const time = make("span", { class: "time" }, `${start.toFixed(1)} s, ${percent(probability)}`);
    this.#words.append(make("li", {}, nameOf(label), time));
    if (this.#words.childElementCount > wordsShown) this.#words.firstElementChild!.remove();
  }

  // Measures how long `spot` takes for the first second of the recording that the panel shows. Shows this time. Does
  // nothing while the microphone is on, because the panel then shows the times of the microphone's sound.
  #measure(): void {
    const samples = this.#sound?.samples.subarray(0, KeywordSpotter.sampleRate);
    if (samples && this.#model) this.#showFacts(timeOf(() => this.#model.spot(samples, { attention: false })));
  }

  #showFacts(milliseconds?: number): void {
    const { kernel, encoder } = this.#model;
    const { precision } = kernel.description;
    showFacts(byId("keyword-facts", HTMLElement), [
      [
        "A window of one second",
        milliseconds === undefined ? "…" : duration(milliseconds),
        this.#microphone ? `new frames and model, every ${stride} ms, one thread` : "features and model, one thread",
      ],
      moduleFact(kernel),
      ["Weights", grouped(parameters), precision === "int8" ? "matrices in int8, the rest in float32" : "float32"],
      ["Memory", bytes(memoryOf(encoder, "class_token")), `workspace ${bytes(kernel.description.workspace)}`],
    ]);
  }
}

/** Shows the list of the twelve labels. The background colour of a label shows the probability of the label. */
class LabelList {
  readonly #list = byId("keyword-labels", HTMLUListElement);
  readonly #shares: readonly HTMLElement[];
  #probabilities: Float32Array | undefined;

  constructor() {
    this.#shares = KeywordSpotter.labels.map(() => make("span", { class: "share" }));
    this.#list.replaceChildren(
      ...this.#shares.map((share, i) => make("li", {}, nameOf(KeywordSpotter.labels[i]!), share)),
    );
    onHeatChange(() => this.#draw());
  }

  show(probabilities: Float32Array): void {
    this.#probabilities = probabilities;
    this.#draw();
  }

  #draw(): void {
    this.#probabilities?.forEach((probability, i) => {
      const item = this.#list.children[i] as HTMLElement;
      const { ground, ink } = heat(probability);
      item.style.background = ground;
      item.style.color = ink;
      this.#shares[i]!.textContent = percent(probability);
    });
  }
}
