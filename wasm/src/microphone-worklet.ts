// SPDX-License-Identifier: Apache-2.0
// Runs in the audio thread of a page: collects the samples of the microphone, and posts the samples to the page.

declare const registerProcessor: (name: string, processor: new () => object) => void;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}

const chunk = 512; // samples in a message, 32 ms at 16 kHz; each call of `process` gets 128 samples

class SampleCollector extends AudioWorkletProcessor {
  #samples: Float32Array = new Float32Array(chunk);
  #count = 0;
  #isStopped = false;

  constructor() {
    super();
    this.port.onmessage = () => (this.#isStopped = true);
  }

  /** Returns false after the call of Microphone.stop. The browser then removes the node. */
  process([input]: Float32Array[][]): boolean {
    const channel = input?.[0]; // absent if the microphone has no samples
    if (channel && !this.#isStopped) this.#add(channel);
    return !this.#isStopped;
  }

  #add(channel: Float32Array): void {
    for (let at = 0; at < channel.length;) {
      const part = channel.subarray(at, at + chunk - this.#count);
      this.#samples.set(part, this.#count);
      this.#count += part.length;
      at += part.length;
      if (this.#count === chunk) this.#post();
    }
  }

  #post(): void {
    this.port.postMessage(this.#samples, [this.#samples.buffer]);
    this.#samples = new Float32Array(chunk);
    this.#count = 0;
  }
}

registerProcessor("ladon-sample-collector", SampleCollector);

export {}; // makes this file a module, so that its declarations are not global
