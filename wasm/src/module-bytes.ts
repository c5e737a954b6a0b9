// SPDX-License-Identifier: Apache-2.0
// Finds the reason why the engine does not compile the bytes of a module.
import { fail, failFor } from "./fail.js";
import { textIn } from "./read.js";
import { supports, type Variant, variants } from "./variants.js";

/** The beginning of the custom section `ladon`: the length of the section's name (5), and the name in ASCII. */
const prefix = "5,108,97,100,111,110";

/**
 * Returns the content of the custom section `ladon` of a WebAssembly file, or undefined if the file has no such
 * section. Compares only the first six bytes of each custom section with the name. Decoding the names would be slow for
 * a damaged file: if every name claims to extend to the end of the file, the time is quadratic in the file's size.
 */
const ladonSection = (bytes: Uint8Array): Uint8Array | undefined => {
  let at = 8; // after the magic number and the version
  const readUnsigned = (): number => {
    let [value, scale, byte] = [0, 1, 128];
    while (byte & 128) {
      byte = bytes[at++] ?? 0; // 0 beyond the end of the bytes
      value += (byte & 127) * scale;
      scale *= 128;
    }
    return value;
  };
  while (at < bytes.length) {
    const id = bytes[at++];
    const size = readUnsigned();
    const end = at + size;
    if (id === 0) {
      const content = bytes.subarray(at, end);
      if (`${content.subarray(0, 6)}` === prefix) return content.subarray(6);
    }
    at = end;
  }
  return undefined;
};

const variantIn = (bytes: Uint8Array): Variant | undefined => {
  try {
    return JSON.parse(new TextDecoder().decode(ladonSection(bytes))).variant;
  } catch {
    return undefined; // the section is missing or damaged
  }
};

/** Returns the bytes of a source. An ArrayBuffer that was transferred to a worker has no bytes. */
const bytesOf = (source: BufferSource): Uint8Array => {
  if (!source.byteLength) return new Uint8Array();
  const { buffer = source as ArrayBuffer, byteOffset = 0, byteLength } = source as ArrayBufferView<ArrayBuffer>;
  return new Uint8Array(buffer, byteOffset, byteLength);
};

/** Throws the reason why the engine does not compile the bytes: an unsupported variant, or no module at all. */
export const failModule = (source: BufferSource, cause: unknown, place: string): never => {
  const bytes = bytesOf(source);
  const variant = variantIn(bytes);
  if (variant && !supports(variant)) {
    return fail("unsupported", "variant of the module", variants.filter(supports), variant, cause);
  }
  if (WebAssembly.validate(source)) {
    const hint = "this host compiles no WebAssembly at run time; import the module, and pass the WebAssembly.Module";
    return failFor("unsupported", cause, `${place}: ${hint}`);
  }
  return fail("not-a-module", place, "WebAssembly", textIn(bytes.subarray(0, 8)) ?? cause, cause);
};
