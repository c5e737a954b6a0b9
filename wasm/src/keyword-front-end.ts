// SPDX-License-Identifier: Apache-2.0
// The parts of KWT-1 outside the encoder. One part computes features from sound, and the input of the encoder from
// features. The other part computes logits from the result of the encoder. The C++ code of the module is
// wasm/keywords/front_end.cpp.
import { checkSignal } from "./check.js";
import { fail } from "./fail.js";
import type { CompiledModule, Instance } from "./core.js";
import { failModule } from "./module-bytes.js";
import { addressOf, readBytes } from "./read.js";
import type { Source } from "./types.js";
import type { Variant } from "./variants.js";

export const sampleRate = 16000;
/** The number of samples of a window, which is one second. */
export const windowLength = 16000;
export const frameCount = 98;
export const frameLength = 480;
export const frameStep = 160;
export const melBands = 80;
export const coefficients = 40;
export const tokenCount = 99;
export const modelWidth = 64;
export const labelCount = 12;
export const layerCount = 12;

/** The tensors that do not belong to the encoder, in the order of the struct Tensors in front_end.cpp. */
const tensors: readonly (readonly [name: string, size: number])[] = [
  ["class_token", modelWidth],
  ["position", tokenCount * modelWidth],
  ["embed.weight", modelWidth * coefficients],
  ["embed.bias", modelWidth],
  ["head.weight", labelCount * modelWidth],
  ["head.bias", labelCount],
];

interface Exports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  samples(): number;
  features(): number;
  bands(): number;
  tensors(): number;
  y(): number;
  compute_features(frames: number): void;
  compute_x(): number;
  compute_logits(): number;
}

/**
 * Compiles keywords_front_end.wasm from `source`. The default is the file of this package. Errors: "network",
 * "not-a-module", "aborted".
 */
export const loadFrontEnd = async (
  source: Source | CompiledModule | undefined,
  variant: Variant,
  signal?: AbortSignal,
): Promise<WebAssembly.Module> => {
  checkSignal(signal);
  const name = variant === "scalar" ? "scalar" : "simd";
  const own = (): URL => addressOf(() => new URL(`./modules/keywords_front_end.${name}.wasm`, import.meta.url));
  const compile = async (place: Source): Promise<WebAssembly.Module> => {
    const bytes = await readBytes(place, signal).catch((cause) => {
      if (source || cause.code !== "network") throw cause;
      return fail("network", `${cause.message}; does your bundler copy ladon/dist/modules?`, undefined, undefined, cause);
    });
    return WebAssembly.compile(bytes as BufferSource).catch((cause) => failModule(bytes as BufferSource, cause, "front end"));
  };
  const isRight = (module: WebAssembly.Module) =>
    WebAssembly.Module.exports(module).some((one) => one.name === "compute_features");
  const module = source instanceof WebAssembly.Module ? source : await compile((source ?? own()) as Source);
  return isRight(module)
    ? module
    : fail("not-a-module", "front end", "the module keywords_front_end", "another module");
};

/** Holds the features of the last second of a sound. The memory of the module never grows, so views stay valid. */
export class FrontEnd {
  readonly #exports: Exports;
  readonly #samples: Float32Array;
  readonly #y: Float32Array;
  readonly #bands: Float32Array;
  #waiting = 0; // samples in #samples that the next frame needs

  /**
   * Copies the tensors that the encoder's kernel does not use (embeddings, classifier) from `encoder` to the module of
   * the front end. `encoder` holds all tensors of the model's file. Throws "weights" or "length" if a tensor is missing
   * or wrong.
   */
  constructor(module: WebAssembly.Module, encoder: Instance) {
    this.#exports = new WebAssembly.Instance(module).exports as unknown as Exports;
    this.#exports._initialize();
    this.#samples = this.#view(this.#exports.samples(), windowLength);
    this.#y = this.#view(this.#exports.y(), modelWidth);
    this.#bands = this.#view(this.#exports.bands(), frameCount * melBands);
    let at = this.#exports.tensors();
    for (const [name, size] of tensors) {
      const tensor = encoder.weights.tensor(name, "float32");
      if (tensor.length !== size) fail("length", `numbers in ${name}`, size, tensor.length);
      this.#view(at, size).set(tensor);
      at += tensor.byteLength;
    }
  }

  /**
   * Adds the next samples of a sound. Computes the features of each frame once, as soon as the last sample of the frame
   * is present.
   */
  add(samples: Float32Array): void {
    for (let at = 0; at < samples.length;) {
      const part = samples.subarray(at, at + windowLength - this.#waiting);
      this.#samples.set(part, this.#waiting);
      this.#waiting += part.length;
      at += part.length;
      this.#computeFrames();
    }
  }

  /**
   * Begins a new sound: drops the samples at the end that do not fill a frame. Old features can stay, because the next
   * full window replaces all of them.
   */
  restart(): void {
    this.#waiting = 0;
  }

  /** Computes the input of the encoder, [tokenCount][modelWidth], from the features. Returns a view. */
  x(): Float32Array {
    return this.#view(this.#exports.compute_x(), tokenCount * modelWidth);
  }

  /** Returns a copy of the logits. `row` is the result of the encoder for the class token. */
  logits(row: Float32Array): Float32Array {
    this.#y.set(row);
    return this.#view(this.#exports.compute_logits(), labelCount).slice();
  }

  /** Returns a copy of the natural logarithms of the mel bands, [frameCount][melBands]. */
  bands(): Float32Array {
    return this.#bands.slice();
  }

  #computeFrames(): void {
    const frames = Math.floor((this.#waiting - frameLength) / frameStep) + 1;
    if (frames <= 0) return;
    this.#exports.compute_features(frames);
    const end = this.#waiting;
    this.#samples.copyWithin(0, frames * frameStep, end);
    this.#waiting -= frames * frameStep;
  }

  #view(at: number, length: number): Float32Array {
    return new Float32Array(this.#exports.memory.buffer, at, length);
  }
}
