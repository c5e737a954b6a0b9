// Chooses how int8 modules quantise their inputs. The choice depends on how this engine computes the relaxed dot
// product. The file relaxed-dot.js of the npm package tests the engine.

/**
 * Returns {KIND: {bits, isSigned}} with an entry for each kind of module: the bits of quantised inputs, and whether the
 * inputs are signed bytes. If this engine computes wrong relaxed dot products, the kind "relaxed" is missing. Without
 * the npm package, the engine is not tested. Relaxed modules then use 7 bits. With 7-bit inputs, every correct engine
 * computes equal sums, because WebAssembly defines these sums.
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
