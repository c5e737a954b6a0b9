// SPDX-License-Identifier: Apache-2.0
import { fail } from "./fail.js";

/**
 * Maps values of ladon_status (C header) to messages. The map contains errors that the kernel detects, but this package
 * does not.
 */
const messages: Record<number, string> = {
  7: "a length or a position is larger than the kernel has room for",
  11: "the cache has no room for these tokens",
  13: "rotary.base or another number of rotary is out of range",
};

/** Throws "status" if a C function returned another status than LADON_OK. */
export const checkStatus = (status = 0): void => {
  if (status) fail("status", messages[status] ?? `ladon_status ${status}`, undefined, status);
};
