// Makes WebAssembly files for the tests.
const leb = (number) => (number < 128 ? [number] : [(number & 127) | 128, ...leb(Math.floor(number / 128))]);
const sized = (bytes) => [...leb(bytes.length), ...bytes];
const text = (string) => sized(new TextEncoder().encode(string));
const section = (id, ...content) => [id, ...sized(content)];

/** A module without content. */
export const emptyModule = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);

/**
 * Returns the module with a custom section `ladon` that holds the text `content`. The section is in front of all
 * others. If `module` has a section `ladon`, too, the package reads the first, so `content` replaces the description of
 * the module.
 */
export const withSection = (content, module = emptyModule) => {
  const ladon = [...text("ladon"), ...new TextEncoder().encode(content)];
  return Uint8Array.from([...module.subarray(0, 8), 0, ...sized(ladon), ...module.subarray(8)]);
};

const kinds = { function: 0, memory: 2, global: 3 };

/**
 * Correct and wrong versions of the global __heap_base, encoded as in a module: 1024 as an i32, 1024 as an i64, and NaN
 * as an f64.
 */
const globals = {
  i32: [0x7f, 0, 0x41, 0x80, 8, 0x0b],
  i64: [0x7e, 0, 0x42, 0x80, 8, 0x0b],
  nan: [0x7c, 0, 0x44, 0, 0, 0, 0, 0, 0, 0xf8, 0x7f, 0x0b],
};

/**
 * Returns a module with one function () -> i32 that traps, one memory of one page, and one global. An entry of
 * `exports` is [name, kind], where `kind` is a key of `kinds`. If `imports` is true, the module also imports a
 * function.
 */
export const trappingModule = ({ exports = [], global = "i32", imports = false }) =>
  Uint8Array.from([
    ...emptyModule,
    ...section(1, 1, 0x60, 0, 1, 0x7f),
    ...(imports ? section(2, 1, ...text("e"), ...text("f"), 0, 0) : []),
    ...section(3, 1, 0),
    ...section(5, 1, 0, 1),
    ...section(6, 1, ...globals[global]),
    ...section(7, exports.length, ...exports.flatMap(([name, kind]) => [...text(name), kinds[kind], 0])),
    ...section(10, 1, 3, 0, 0, 0x0b),
  ]);

/**
 * A module for threads: imports a shared memory of 16 to 65536 pages, and exports run_phase, which traps. Its global
 * stands for the address of the heap and for the end of the stack.
 */
export const trappingTeamModule = Uint8Array.from([
  ...emptyModule,
  ...section(1, 1, 0x60, 0, 1, 0x7f),
  ...section(2, 1, ...text("env"), ...text("memory"), kinds.memory, 3, ...leb(16), ...leb(65536)),
  ...section(3, 1, 0),
  ...section(6, 1, 0x7f, 1, 0x41, 0x80, 8, 0x0b),
  ...section(7, 3, ...text("run_phase"), kinds.function, 0, ...text("__heap_base"), kinds.global, 0,
    ...text("__stack_pointer"), kinds.global, 0),
  ...section(10, 1, 3, 0, 0, 0x0b),
]);
