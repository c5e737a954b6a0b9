import { shown } from "./shown.js";

/**
 * What a {@link LadonError} is about:
 *
 * - `"length"`: an array or a run's length does not fit; numbers are elements, or tokens
 * - `"option"`: an option that the kernel lacks or needs, or a value that none can be
 * - `"mask"`: a mask that the kernel cannot be, or data of a mask that the instance was created without
 * - `"weights"`: none yet, or tensors that are missing, unknown, of another dtype or misaligned; a damaged file
 * - `"shape"`: a tensor of a shape that the kernel does not read
 * - `"attention"`: the last run kept none
 * - `"busy"`: the instance's weights are being loaded
 * - `"closed"`: the instance was freed
 * - `"memory"`: WebAssembly has no more of it
 * - `"unknown-kernel"`: no shipped kernel is that
 * - `"not-a-module"`: bytes that are no WebAssembly, or no module made by `ladon_add_kernel`
 * - `"version"`: a module for another version of this package
 * - `"unsupported"`: this engine has no WebAssembly, or not what the variant needs
 * - `"network"`: a file could not be read
 * - `"aborted"`: by the caller's signal, whose reason is the `cause`
 * - `"status"`: the kernel refused a call that the binding let through; `actual` is the `ladon_status` of the C header
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
  | "aborted"
  | "status";

/** The one error of this package. Where it is thrown nothing was written that a caller can see. */
export class LadonError extends Error {
  override name = "LadonError";

  /**
   * @param code what it is about
   * @param what the first part of the message; `expected` and `actual` follow it where there are any
   * @param expected what would have been right
   * @param actual what was found
   * @param cause another error that led to this one
   */
  constructor(
    readonly code: ErrorCode,
    what: string,
    readonly expected?: unknown,
    readonly actual?: unknown,
    cause?: unknown,
  ) {
    super(expected === undefined ? what : `${what}: expected ${shown(expected)}, got ${shown(actual)}`, { cause });
  }
}

/** Throws a {@link LadonError}. */
export const fail = (...about: ConstructorParameters<typeof LadonError>): never => {
  throw new LadonError(...about);
};

/** The same where it was another error, which the message has the text of. */
export const failOf = (code: ErrorCode, cause: unknown, what: unknown = code): never =>
  fail(code, `${what}: ${cause}`, undefined, undefined, cause);

/**
 * A file of the package that is loaded when it is needed, over a network that may be gone by then. Where the file is to
 * tell why something failed, that is told without it: `what` and its `reason`.
 */
export const loaded = <T>(file: Promise<T>, what?: unknown, reason?: unknown): Promise<T> =>
  file.catch((cause) => failOf("network", reason ?? cause, what));
