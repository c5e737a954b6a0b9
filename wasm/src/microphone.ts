// SPDX-License-Identifier: Apache-2.0
// Passes the samples of a page's microphone to a callback: 16,000 samples per second, one channel.
import { checkNumber, checkOptions, checkSignal } from "./check.js";
import { attempt, fail, failFor } from "./fail.js";
import { sampleRate } from "./keyword-front-end.js";
import { LadonError } from "./core.js";
import { addressOf } from "./read.js";
import { textOf } from "./text.js";
import { type Wait, within } from "./within.js";

export interface MicrophoneOptions {
  /** Called with the next samples, floats from -1 to 1. Each array is new, so the callback may keep it. */
  readonly samples: (samples: Float32Array) => void;
  /** Called once if the microphone ends by itself, because it was unplugged or the permission was taken back. */
  readonly ended?: () => void;
  /** The address of microphone-worklet.js. The default is the file of this package. */
  readonly worklet?: string | URL;
  /** The milliseconds in which the browser must load the worklet and start the sound, 10,000 each by default. */
  readonly limit?: number;
  /** The milliseconds in which the user must answer the question for the permission, 120,000 by default. */
  readonly permissionLimit?: number;
  readonly signal?: AbortSignal;
}

/** The meanings of the errors of getUserMedia (https://www.w3.org/TR/mediacapture-streams/#methods-5). */
const reasons: Readonly<Record<string, string>> = {
  NotAllowedError: "the permission to use the microphone was denied",
  SecurityError: "the permission to use the microphone was denied",
  NotFoundError: "there is no microphone",
  NotReadableError: "the microphone cannot be opened: another program may use it",
};

const noResampling = `this browser does not resample a microphone to ${sampleRate} Hz`;
const closeLimit = 1000; // milliseconds

export class Microphone {
  static readonly sampleRate: number = sampleRate;
  readonly #stream: MediaStream;
  #context: AudioContext | undefined;
  #node: AudioWorkletNode | undefined;

  /**
   * Asks for the permission and opens the microphone. Call this function in the handler of a click or of a key, because
   * browsers start audio only in such handlers. Errors: "microphone" without permission or device, or if a limit
   * passes, "network", "option", "aborted".
   */
  static async open(options: MicrophoneOptions): Promise<Microphone> {
    checkOptions(options, ["samples", "ended", "worklet", "limit", "permissionLimit", "signal"]);
    const { samples, ended, signal, limit = 10_000, permissionLimit = 120_000 } = options;
    if (typeof samples !== "function") fail("option", "samples", "a function", samples);
    checkSignal(signal);
    for (const [name, time] of Object.entries({ limit, permissionLimit })) {
      if (!(checkNumber(name, time) >= 0)) fail("option", name, "milliseconds", time);
    }
    const microphone = new Microphone(await openStream(permissionLimit, signal));
    try {
      const worklet = options.worklet ?? addressOf(() => new URL("./microphone-worklet.js", import.meta.url));
      await microphone.#start(worklet, samples, { code: "microphone", limit, signal });
    } catch (error) {
      await microphone.stop();
      throw error;
    }
    microphone.#watch(ended);
    return microphone;
  }

  private constructor(stream: MediaStream) {
    this.#stream = stream;
  }

  /** Closes the microphone. No samples come afterwards. A second `stop` has no effect. */
  async stop(): Promise<void> {
    for (const track of this.#stream.getTracks()) track.stop();
    if (this.#node) this.#node.port.onmessage = null;
    this.#node?.port.postMessage("stop");
    this.#node?.disconnect();
    this.#node = undefined;
    const context = this.#context;
    this.#context = undefined;
    // The tracks have stopped, so no samples come if the browser does not close the context.
    const wait: Wait = { code: "microphone", what: "the sound does not close", limit: closeLimit };
    if (context) await within(context.close(), wait).catch(() => undefined);
  }

  // Starts to collect samples. The AudioContext has a rate of 16 kHz, so it resamples the microphone's sound. The node
  // has no output, so nothing is played.
  async #start(worklet: string | URL, samples: (samples: Float32Array) => void, wait: Omit<Wait, "what">): Promise<void> {
    const context = (this.#context = attempt("microphone", () => new AudioContext({ sampleRate }), noResampling));
    const added = context.audioWorklet.addModule(worklet).catch((cause) => failFor("network", cause, `${worklet}`));
    await within(added, { ...wait, code: "network", what: `${worklet} does not load` });
    this.#connect(context, samples);
    const resumed = context.resume().catch((cause) => failFor("microphone", cause, "the browser starts no sound"));
    await within(resumed, { ...wait, what: "the browser starts no sound (is there an audio output?)" });
  }

  #connect(context: AudioContext, samples: (samples: Float32Array) => void): void {
    const node = (this.#node = new AudioWorkletNode(context, "ladon-sample-collector", {
      numberOfInputs: 1,
      numberOfOutputs: 0,
      channelCount: 1,
      channelCountMode: "explicit",
    }));
    node.port.onmessage = ({ data }: MessageEvent<Float32Array>) => samples(data);
    attempt("microphone", () => context.createMediaStreamSource(this.#stream).connect(node), noResampling);
  }

  #watch(ended: (() => void) | undefined): void {
    const [track] = this.#stream.getAudioTracks();
    track?.addEventListener("ended", () => {
      void this.stop();
      ended?.();
    });
  }
}

// Opens the microphone without echoCancellation and noiseSuppression. These two filters distort words, and the model
// was trained on unfiltered recordings. autoGainControl is on, because it makes quiet voices louder.
const openStream = async (limit: number, signal: AbortSignal | undefined): Promise<MediaStream> => {
  const devices = globalThis.navigator?.mediaDevices;
  if (!devices?.getUserMedia || typeof AudioWorkletNode !== "function") {
    return fail("microphone", "no microphone here: browsers give microphones to pages on https or localhost only");
  }
  const audio = { channelCount: 1, echoCancellation: false, noiseSuppression: false, autoGainControl: true };
  const opened = devices.getUserMedia({ audio }).catch((cause) => {
    const reason = reasons[cause?.name] ?? `the microphone cannot be opened: ${textOf(cause)}`;
    throw new LadonError("microphone", reason, undefined, undefined, cause);
  });
  const wait: Wait = { code: "microphone", what: "nobody allowed or denied the microphone", limit, signal };
  return within(opened, wait).catch((error) => {
    // The user may give the permission later, when nobody waits for the microphone any more.
    opened.then((stream) => stream.getTracks().forEach((track) => track.stop()), () => undefined);
    throw error;
  });
};
