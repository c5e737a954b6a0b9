// Chooses how int8 modules quantise their inputs in this engine. The choice depends on how the engine computes the
// relaxed dot product, which a test in the npm package (relaxed-dot.js) finds out.

/**
 * Returns {KIND: {bits, isSigned}} with an entry for each kind of module: the bits of quantised inputs, and whether
 * their bytes are signed. If this engine computes wrong relaxed dot products, the kind "relaxed" is missing. Without
 * the package, the engine is not tested, and relaxed modules use 7 bits, for which WebAssembly defines the sums.
 */
export async function activationsOf(host, report) {
  const dot = await relaxedDotOf(host);
  report({message: `the relaxed dot product: ${dot}`});
  const exact = {bits: 8, isSigned: false}, portable = {bits: 7, isSigned: false};
  const relaxed = {unsigned: exact, signed: {bits: 8, isSigned: true}}[dot] ?? portable;
  return {...(dot !== "wrong" && {relaxed}), simd: exact, scalar: exact};
}

async function relaxedDotOf(host) {
  try {
    return await (await host.binding("relaxed-dot.js")).relaxedDot();
  } catch (error) {
    return `not known (${error.message})`;
  }
}
