// Chooses the format to which int8 modules quantise their inputs: 7 or 8 bits, signed or unsigned. The best format
// depends on how this engine computes the relaxed dot product. The file relaxed-dot.js of the npm package tests the
// engine.

/**
 * Returns {relaxed, simd, scalar}. Each member is {bits, isSigned}: the bits of quantised inputs, and whether the
 * inputs are signed bytes. If this engine computes wrong relaxed dot products, `relaxed` is missing. Without the npm
 * package, this function cannot test the engine. In this case, `relaxed` has 7 bits, because with 7 bits, all correct
 * engines compute equal sums.
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
