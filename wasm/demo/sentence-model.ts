import type { Answer, ModelSource, Questions, Request } from "./sentence-messages.js";

export class Cancelled extends Error {}

/** MiniLM in its worker, as the page sees it. */
export class SentenceModel {
  readonly #worker = new Worker(new URL("./sentence-worker.js", import.meta.url), { type: "module" });
  readonly #open = new Map<number, { give: (answer: never) => void; fail: (problem: Error) => void }>();
  #progress: ((bytes: number, total: number) => void) | undefined;
  #last = 0;

  constructor() {
    this.#worker.addEventListener("message", ({ data }: MessageEvent<Answer>) => this.#take(data));
    this.#worker.addEventListener("error", ({ message }) => {
      for (const { fail } of this.#open.values()) fail(new Error(message || "the worker could not be started"));
      this.#open.clear();
    });
  }

  load(source: ModelSource, progress: (bytes: number, total: number) => void): Promise<Questions["load"]["give"]> {
    this.#progress = progress;
    return this.#ask("load", source);
  }
  embed(text: string): Promise<Questions["embed"]["give"]> {
    return this.#ask("embed", text);
  }
  attend(text: string): Promise<Questions["attend"]["give"]> {
    return this.#ask("attend", text);
  }
  warm(): Promise<null> {
    return this.#ask("warm", undefined);
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
    if ("bytes" in answer) return this.#progress?.(answer.bytes, answer.total);
    const waiting = this.#open.get(answer.id);
    this.#open.delete(answer.id);
    if ("answer" in answer) waiting?.give(answer.answer as never);
    else waiting?.fail(answer.cancelled ? new Cancelled() : new Error(answer.problem));
  }
}
