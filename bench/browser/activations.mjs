// Chooses how int8 modules quantise their inputs in this engine. The choice depends on how the engine computes the
// relaxed dot product. The npm package detects this property of the engine.

/**
 * Returns {KIND: {bits, isSigned}}. A kind that computes wrong sums in this engine is missing. Without the package,
 * relaxed modules use 7 bits, which every engine computes correctly.
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
