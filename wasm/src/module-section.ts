// SPDX-License-Identifier: Apache-2.0
import { fail } from "./fail.js";

/**
 * Returns the JSON in the custom section `ladon` of a module: the description of what the module computes. The JSON is
 * frozen. `maker` makes such sections.
 */
export const readSection = (module: WebAssembly.Module, maker: string): any => {
  const [section] = WebAssembly.Module.customSections(module, "ladon");
  if (!section) return fail("not-a-module", "module", `a section that ${maker} makes`, "none");
  try {
    return JSON.parse(new TextDecoder().decode(section), (_, value) => Object.freeze(value));
  } catch (cause) {
    return fail("not-a-module", "description in a module", "JSON", cause, cause);
  }
};
