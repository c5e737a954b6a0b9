// SPDX-License-Identifier: Apache-2.0
// Waits for a promise of the browser that may never settle.
import { type ErrorCode, LadonError } from "./errors.js";
import { abortOf } from "./fail.js";

export interface Wait {
  /** The code of the error after `limit` milliseconds. */
  readonly code: ErrorCode;
  /** The beginning of the error's message, such as "the browser gives no answer". */
  readonly what: string;
  /** Milliseconds. */
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
}

/** Returns what `promise` gives. Throws after `limit` milliseconds, and "aborted" when the signal aborts. */
export const within = async <T>(promise: Promise<T>, { code, what, limit, signal }: Wait): Promise<T> => {
  const end = new AbortController(); // removes the listener of the caller's signal
  let timer: ReturnType<typeof setTimeout> | undefined;
  const failure = new Promise<never>((_, reject) => {
    const message = `${what} within ${limit / 1000} s`;
    timer = setTimeout(() => reject(new LadonError(code, message)), limit);
    const abort = (): void => reject(abortOf(signal!));
    signal?.addEventListener("abort", abort, { signal: end.signal });
  });
  try {
    if (signal?.aborted) throw abortOf(signal);
    return await Promise.race([promise, failure]);
  } finally {
    clearTimeout(timer);
    end.abort();
  }
};
