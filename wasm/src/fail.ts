// SPDX-License-Identifier: Apache-2.0
// Functions that throw a LadonError.
import { type ErrorCode, LadonError } from "./errors.js";
import { textOf } from "./text.js";

/** Throws a {@link LadonError}. */
export const fail = (...about: ConstructorParameters<typeof LadonError>): never => {
  throw new LadonError(...about);
};

/** Returns the error of a call whose signal was aborted. */
export const abortOf = ({ reason }: AbortSignal): LadonError =>
  new LadonError("aborted", `aborted: ${textOf(reason)}`, undefined, undefined, reason);

/** Throws a {@link LadonError} whose cause is another error. The message contains the text of the other error. */
export const failFor = (code: ErrorCode, cause: unknown, what: string = code): never =>
  fail(code, `${what}: ${textOf(cause)}`, undefined, undefined, cause);

/** Returns the result of `act`. Throws a {@link LadonError} if `act` throws. */
export const attempt = <T>(code: ErrorCode, act: () => T, what?: string): T => {
  try {
    return act();
  } catch (cause) {
    return failFor(code, cause, what);
  }
};
