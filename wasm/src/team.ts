// SPDX-License-Identifier: Apache-2.0
// Computes calls of a kernel by several workers, which share the memory of an instance. Loaded on demand, for the option
// `threads` of `load`. The calling thread only waits for messages, because the main thread of a page may not block.
import { checkCount } from "./check.js";
import type { Description } from "./description.js";
import { LadonError } from "./errors.js";
import { fail, failFor } from "./fail.js";
import type { ModuleMemory } from "./memory.js";
import { checkStatus } from "./status.js";
import { textOf } from "./text.js";
import { supports, type Variant } from "./variants.js";

/** The first message to a worker. `stackEnd` and `words` are addresses: of the worker's stack, and of the barrier. */
export interface TeamStart {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly phases: number;
  readonly share: number;
  readonly stackEnd: number;
  readonly words: number;
}

/** A call: the number of workers that compute, and the arguments of the C function behind phase, share and shares. */
export interface TeamCall {
  readonly shares: number;
  readonly args: readonly number[];
}

/** A worker of the web or of Node. Node's workers have `on` in place of addEventListener. */
interface AnyWorker {
  postMessage(message: unknown): void;
  terminate(): unknown;
  on?(name: string, act: (value: any) => void): void;
  addEventListener?(name: string, act: (event: any) => void): void;
  ref?(): void;
  unref?(): void;
}

const stackBytes = 65536; // as of the module itself (cmake/kernel/wasm.cmake)

/**
 * The tokens of a panel, the smallest part of most phases. One worker computes a call of one panel, because the other
 * workers would only wait: MiniLM with 8 tokens takes two workers 1.08 (float32) and 1.14 (int8) times as long as one
 * (Zen 3, shortest of 40 calls). The attention to a cache is divided by heads, so it needs no second panel.
 */
const panelTokens = 8;

/** Returns the reason why this engine, or the variant, cannot compute with threads. Returns undefined if it can. */
const lackOfThreads = (variant?: Variant): string | undefined => {
  const isIsolated: boolean | undefined = (globalThis as any).crossOriginIsolated; // undefined outside browsers
  if (typeof SharedArrayBuffer === "undefined" || isIsolated === false) {
    if (isIsolated) return "no SharedArrayBuffer in this browser, although the page is cross-origin isolated";
    return "no SharedArrayBuffer: the page is not cross-origin isolated, which takes the headers \
Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp";
  }
  return variant === "scalar" || !supports("simd") ? "no SIMD, which modules for threads use" : undefined;
};

/**
 * Returns a memory that threads can share. Its initial size is the size that ladon_link_module states. The maximum is
 * the largest that the engine can reserve.
 */
const sharedMemory = (maximum = 65536): WebAssembly.Memory => {
  try {
    return new WebAssembly.Memory({ initial: 16, maximum, shared: true });
  } catch (cause) {
    return maximum > 1024 ? sharedMemory(maximum / 2) : failFor("memory", cause);
  }
};

/** The option `threads` of `load`. */
export class Threads {
  /** The reason why one thread computes. */
  readonly lack: string | undefined;
  readonly count: number;
  readonly suffix: "" | ".threads";

  constructor(wanted: number, variant?: Variant) {
    checkCount("threads", wanted, 64, 1);
    this.lack = lackOfThreads(variant);
    this.count = this.lack ? 1 : wanted;
    this.suffix = this.lack ? "" : ".threads";
  }

  /** Returns the error of a source that lacks the module. `error` is the error of the first variant. */
  missing(error: LadonError): LadonError {
    const what = "kernel with modules for threads (THREADS of ladon_add_kernel)";
    return this.lack ? error : new LadonError("unsupported", `${what}: ${error.message}`, undefined, undefined, error);
  }

  /** Throws if the module of a kernel is not the right one. */
  check({ name }: Description, isForThreads: boolean): void {
    if (isForThreads !== !this.lack) {
      const expected = this.lack ? `a module for one thread (${this.lack})` : "a module for threads";
      fail("unsupported", `threads of ${name}`, expected, "another module");
    }
  }

  memory(): WebAssembly.Memory | undefined {
    return this.lack ? undefined : sharedMemory();
  }

  /** Returns the size of a team's workspace, or undefined if one thread computes. */
  workspaceBytes({ threads }: Description, count: number = this.count): number | undefined {
    return this.lack ? undefined : threads!.shared + count * threads!.scratch;
  }

  team(module: WebAssembly.Module, memory: ModuleMemory, description: Description): Team | undefined {
    return this.lack ? undefined : new Team(module, memory, description, this.count);
  }
}

const startWorker = async (): Promise<AnyWorker> => {
  // Bundlers find the worker in this expression.
  if (globalThis.Worker) return new Worker(new URL("./team-worker.js", import.meta.url), { type: "module" });
  const files = await import("./files.js");
  return files.startWorker(new URL("./team-worker.js", import.meta.url));
};

/** The workers of one instance. After an error of a worker, the team has ended, and every call gives this error. */
export class Team {
  readonly #workers: AnyWorker[] = [];
  readonly #leastTokens: number;
  readonly #started: Promise<void>;
  readonly #ended: Promise<never>;
  /** What to do with the next answer of each worker. */
  readonly #take: ((answer: unknown) => void)[] = [];
  #reject!: (error: LadonError) => void;
  #hasEnded = false;

  constructor(module: WebAssembly.Module, memory: ModuleMemory, description: Description, threads: number) {
    this.#leastTokens = description.cache ? 0 : panelTokens + 1;
    this.#ended = new Promise((_, reject) => (this.#reject = reject));
    this.#ended.catch(() => {}); // only calls report the error
    const words = memory.allocate(8).at;
    memory.write(words, [0, 0], Int32Array);
    const stacks = memory.allocate(threads * stackBytes).at;
    const startOf = (share: number): TeamStart => ({
      module,
      memory: memory.exports.memory,
      phases: description.threads!.phases,
      share,
      stackEnd: stacks + (share + 1) * stackBytes,
      words,
    });
    this.#started = this.#start(threads, startOf);
    this.#started.catch(() => {});
  }

  /** Computes a call of so many tokens. `args` are the arguments of the C function behind phase, share and shares. */
  async call(args: readonly number[], tokens: number): Promise<void> {
    await this.#started;
    this.#workers.forEach((worker) => worker.ref?.()); // a program of Node must not end before the answers
    const shares = tokens < this.#leastTokens ? 1 : this.#workers.length;
    try {
      checkStatus(Math.max(...(await this.#ask(() => ({ shares, args }), shares))));
    } finally {
      this.#workers.forEach((worker) => worker.unref?.());
    }
  }

  free(): void {
    this.#end(new LadonError("closed", "the instance was freed"));
  }

  async #start(threads: number, startOf: (share: number) => TeamStart): Promise<void> {
    try {
      for (let share = 0; share < threads; ++share) this.#add(await startWorker(), share);
    } catch (cause) {
      this.#fail(cause);
      return this.#ended;
    }
    await this.#ask(startOf, threads);
    this.#workers.forEach((worker) => worker.unref?.());
  }

  #add(worker: AnyWorker, share: number): void {
    this.#workers.push(worker);
    if (this.#hasEnded) worker.terminate();
    const listen = (name: string, act: (event: any) => void): void =>
      worker.on ? worker.on(name, act) : worker.addEventListener!(name, act);
    listen("message", (event) => this.#take[share]!(worker.on ? event : event.data));
    listen("messageerror", () => this.#fail("the worker cannot share memory"));
    listen("error", (event) => this.#fail(event.message || "its program could not be loaded"));
    listen("exit", () => this.#fail("it ended"));
  }

  /** Sends a message to each of the first `count` workers, and waits for all answers. Throws the error of a worker. */
  #ask(messageOf: (share: number) => TeamStart | TeamCall, count: number): Promise<number[]> {
    const answers = this.#workers.slice(0, count).map(async (worker, share) => {
      const answer = await new Promise((resolve) => {
        this.#take[share] = resolve;
        worker.postMessage(messageOf(share));
      });
      if (typeof answer === "number") return answer;
      this.#fail(answer);
      return this.#ended;
    });
    return Promise.race([Promise.all(answers), this.#ended]);
  }

  /** Ends the team: if a worker fails, the others would wait for it. */
  #fail(cause: unknown): void {
    this.#end(new LadonError("worker", `a worker failed: ${textOf(cause)}`, undefined, undefined, cause));
  }

  #end(error: LadonError): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#reject(error);
    this.#workers.forEach((worker) => worker.terminate());
  }
}
