// SPDX-License-Identifier: Apache-2.0
import { fail } from "./fail.js";

/**
 * Throws the error of a shipped module that cannot be read again, and mentions the bundler. Some bundlers, such as
 * esbuild, do not copy the modules of the package. Throws other errors unchanged.
 */
export const mentionBundler = (error: any): never => {
  if (error.code !== "network") throw error;
  return fail("network", `${error.message}; does your bundler copy ladon/dist/modules?`, undefined, undefined, error);
};
