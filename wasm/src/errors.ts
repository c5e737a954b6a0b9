// SPDX-License-Identifier: Apache-2.0
import { textOf } from "./text.js";

/**
 * The causes of a {@link LadonError}:
 *
 * - `"length"`: an array has a wrong length, or an argument is not an integer in the allowed range
 * - `"option"`: an option that the kernel does not have, a missing option that the kernel needs, or a wrong value
 * - `"mask"`: a mask that the kernel does not have, or data of a mask that the instance was created without
 * - `"weights"`: no weights yet; tensors that are missing, unknown, misaligned or of another dtype; a damaged file
 * - `"shape"`: a tensor of another shape than the kernel reads
 * - `"attention"`: the last run kept no attention weights
 * - `"busy"`: `weights.load` of the instance is running, or a run by several workers
 * - `"closed"`: the instance or the model was freed
 * - `"memory"`: WebAssembly cannot allocate more memory
 * - `"unknown-kernel"`: the package ships no such kernel
 * - `"not-a-module"`: the bytes are not WebAssembly, or neither `ladon_add_kernel` nor `./dev import` made the module:
 *   the description or the exports are wrong, or a function of the module trapped
 * - `"version"`: the module was made for another version of this package
 * - `"unsupported"`: this engine lacks WebAssembly, or the instructions of the variant
 * - `"network"`: a file could not be read
 * - `"worker"`: a worker of a kernel with threads could not start, or failed; its instance cannot run any more
 * - `"microphone"`: the browser gives no microphone: the permission was denied, or there is no device
 * - `"aborted"`: the caller's signal aborted the call; the signal's reason is the `cause`
 * - `"status"`: the module rejected a call that the binding accepted; `actual` is the status of the C header
 */
export type ErrorCode =
  | "length"
  | "option"
  | "mask"
  | "weights"
  | "shape"
  | "attention"
  | "busy"
  | "closed"
  | "memory"
  | "unknown-kernel"
  | "not-a-module"
  | "version"
  | "unsupported"
  | "network"
  | "worker"
  | "microphone"
  | "aborted"
  | "status";

const longestMessage = 300;

/** Returns `value` as text. If the text has more than `most` characters, "…" replaces its middle. */
const shown = (value: unknown, most: number): string => {
  const text = textOf(value);
  const half = most >> 1;
  return text.length > most ? `${text.slice(0, half - 1)}\u2026${text.slice(-half)}` : text;
};

/** Shortens each part of the message, so that a long part does not hide the others. */
const messageOf = (what: string, expected: unknown, actual: unknown): string => {
  let rest = "";
  if (expected !== undefined) {
    rest = `: expected ${shown(expected, 128)}, got `;
    rest += shown(actual, 216 - rest.length);
  }
  return shown(what, longestMessage - rest.length) + rest;
};

/**
 * The only error type of this package. A call that throws the error has not written anything that the caller can see.
 * Messages have at most 300 characters. `expected` and `actual` have the complete values.
 */
export class LadonError extends Error {
  override name = "LadonError";

  /**
   * @param code - the cause, as ErrorCode lists it
   * @param what - the first part of the message; if `expected` is defined, `expected` and `actual` follow
   * @param expected - the allowed value
   * @param actual - the given value
   * @param cause - the error that led to this error
   */
  constructor(
    readonly code: ErrorCode,
    what: string,
    readonly expected?: unknown,
    readonly actual?: unknown,
    cause?: unknown,
  ) {
    super(messageOf(what, expected, actual), { cause });
  }
}
