// SPDX-License-Identifier: Apache-2.0
// The program of a worker that computes one share of each phase of a call. The first message has the module, the memory
// that all workers share, and the worker's share. Each further message has a call. The worker answers every message: with
// the status of the call, or with the text of an error.
import type { TeamCall, TeamStart } from "./team.js";

/** The global object of a worker. startWorker of files.ts adds both members to Node's workers. */
const port = globalThis as unknown as {
  postMessage(answer: number | string): void;
  onmessage(event: { data: any }): void;
};

/** A worker that waits for longer than some microseconds sleeps, so that other programs can use the processor. */
const spins = 2000;

/** Waits until all `count` workers have called `meet`. `words` are two shared words: arrivals, and completed meetings. */
const meet = (words: Int32Array, count: number): void => {
  const meeting = Atomics.load(words, 1);
  if (Atomics.add(words, 0, 1) === count - 1) {
    Atomics.store(words, 0, 0);
    Atomics.add(words, 1, 1);
    Atomics.notify(words, 1);
    return;
  }
  for (let i = 0; i < spins; ++i) if (Atomics.load(words, 1) !== meeting) return;
  while (Atomics.load(words, 1) === meeting) Atomics.wait(words, 1, meeting);
};

/** Returns a function that computes the worker's share of a call, and returns the status. */
const start = ({ module, memory, phases, share, stackEnd, words }: TeamStart): ((call: TeamCall) => number) => {
  const { exports } = new WebAssembly.Instance(module, { env: { memory } });
  (exports.__stack_pointer as WebAssembly.Global<"i32">).value = stackEnd;
  const runPhase = (exports.run_phase ?? exports.extend_phase) as (...numbers: number[]) => number;
  const meetings = new Int32Array(memory.buffer, words, 2);
  return ({ shares, args }) => {
    for (let phase = 0; phase < phases; ++phase) {
      const status = runPhase(phase, share, shares, ...args);
      if (status) return status; // all workers get this status, because their arguments are equal
      meet(meetings, shares);
    }
    return 0;
  };
};

let compute: ((call: TeamCall) => number) | undefined;
port.onmessage = ({ data }) => {
  try {
    if (compute) return port.postMessage(compute(data));
    compute = start(data);
    port.postMessage(0);
  } catch (error) {
    port.postMessage(`${error}`);
  }
};
