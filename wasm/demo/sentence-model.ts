import type { ShippedPrecision as Precision } from "../src/index.js";
import type { Answer, LoadProgress, ModelSource, Questions, Request } from "./sentence-messages.js";

export class Cancelled extends Error {}

/** The page's interface to the worker that runs MiniLM. */
export class SentenceModel {
  /** The precision in which `embed` and `attend` run the model. */
  precision: Precision = "int8";
  readonly #worker = new Worker(new URL("./sentence-worker.js", import.meta.url), { type: "module" });
  readonly #open = new Map<number, { give: (answer: never) => void; fail: (problem: Error) => void }>();
  #progress: ((progress: LoadProgress) => void) | undefined;
  #last = 0;

  constructor() {
    this.#worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => this.#take(data));
    this.#worker.addEventListener("error", ({ message }) => {
      for (const { fail } of this.#open.values()) fail(new Error(message || "the worker could not be started"));
      this.#open.clear();
    });
  }

  load(
    source: ModelSource,
    precision: Precision,
    progress: (progress: LoadProgress) => void,
  ): Promise<Questions["load"]["give"]> {
    this.#progress = progress;
    return this.#ask("load", { source, precision });
  }
  embed(text: string): Promise<Questions["embed"]["give"]> {
    return this.#ask("embed", { text, precision: this.precision });
  }
  attend(text: string): Promise<Questions["attend"]["give"]> {
    return this.#ask("attend", { text, precision: this.precision });
  }
  warm(precision: Precision): Promise<null> {
    return this.#ask("warm", precision);
  }
  compare(texts: readonly string[]): Promise<Questions["compare"]["give"]> {
    return this.#ask("compare", texts);
  }
  int8File(): Promise<Blob> {
    return this.#ask("int8File", undefined);
  }
  cancel(): void {
    this.#worker.postMessage({ ask: "cancel" } satisfies Request);
  }
  stop(): void {
    this.#worker.terminate();
  }

  #ask<Q extends keyof Questions>(ask: Q, about: Questions[Q]["take"]): Promise<Questions[Q]["give"]> {
    const id = ++this.#last;
    return new Promise((give, fail) => {
      this.#open.set(id, { give, fail });
      this.#worker.postMessage({ id, ask, about });
    });
  }

  #take(answer: Answer): void {
    if ("bytes" in answer) return this.#progress?.(answer);
    const waiting = this.#open.get(answer.id);
    this.#open.delete(answer.id);
    if ("answer" in answer) waiting?.give(answer.answer as never);
    else waiting?.fail(answer.cancelled ? new Cancelled() : new Error(answer.problem));
  }
}
