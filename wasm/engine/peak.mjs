// Measures the peak rate of this engine for a kind of module. The peak rate is the number of multiply-adds per second
// in one thread, with the instructions of the table below and with all operands in registers. peakModule writes the
// bytes of the measuring modules, so that no build is necessary.
//
//   kind       float32                              int8
//   relaxed    f32x4.relaxed_madd                   i32x4.relaxed_dot_i8x16_i7x16_add_s
//   simd       f32x4.mul, f32x4.add                 i32x4.dot_i16x8_s, i32x4.add
//   scalar     f32.mul, f32.add                     i32.mul, i32.add
//
// The kind `simd` widens int8 numbers to 16 bits.

/** The kinds of modules: relaxed SIMD, SIMD, and neither. */
export const kinds = ["relaxed", "simd", "scalar"];

/** Returns true if this engine runs modules of this kind. */
export const runs = kind => WebAssembly.validate(peakModule(kind, {sums: 1}));

// The number of independent sums in the loop of peakModule. A multiplication and the addition of its product take 8
// cycles. A core with two ports starts one such pair per cycle, so at least 8 sums are necessary to keep both ports
// busy. V8 has 15 registers on x86-64. Two of them hold the other operands, so at most 13 sums are possible.
const sumsOf = {float32: {relaxed: 12, simd: 12, scalar: 12}, int8: {relaxed: 12, simd: 12, scalar: 8}};

const [i32, f32, v128] = [0x7f, 0x7d, 0x7b];
const op = {
  end: [0x0b], loop: [0x03, 0x40], brIf: depth => [0x0d, depth],
  get: local => [0x20, local], set: local => [0x21, local], tee: local => [0x22, local],
  f32Const: x => [0x43, ...new Uint8Array(Float32Array.of(x).buffer)], f32Add: [0x92], f32Mul: [0x94],
  f32x4Splat: [0xfd, 0x13], f32x4FirstLane: [0xfd, 0x1f, 0x00], f32x4Add: [0xfd, 0xe4, 0x01],
  f32x4Mul: [0xfd, 0xe6, 0x01], f32x4RelaxedMadd: [0xfd, 0x85, 0x02],
  i32Const: x => [0x41, x], i32Sub: [0x6b], i32Add: [0x6a], i32Mul: [0x6c], f32ReinterpretI32: [0xbe],
  i8x16Splat: [0xfd, 0x0f], i32x4Add: [0xfd, 0xae, 0x01], i32x4DotI16x8: [0xfd, 0xba, 0x01],
  i32x4RelaxedDotAdd: [0xfd, 0x93, 0x02],
};

// An entry of `units` describes one kind of module. All entries for float32 contain the members of `floats`, and all
// entries for int8 contain the members of `bytes`. A step of the loop is either the instruction `fused`, which adds a
// product to a sum, or the instructions `mul` and `add`. A step computes `macs` multiply-adds. `mul` multiplies the sum
// by `factor`, so that no two products are equal. Otherwise, an engine could compute one product for several sums.
// `result` converts a sum to a float32.
const floats = {factor: op.f32Const(0.9999), term: op.f32Const(0.0001), sum: i => op.f32Const(0.9 + 0.01 * i)};
const bytes = {factor: op.i32Const(3), term: op.i32Const(5), sum: i => op.i32Const(i)};
const units = {
  float32: {
    relaxed: {...floats, type: v128, splat: op.f32x4Splat, fused: op.f32x4RelaxedMadd, add: op.f32x4Add,
              result: op.f32x4FirstLane, macs: 4},
    simd: {...floats, type: v128, splat: op.f32x4Splat, mul: op.f32x4Mul, add: op.f32x4Add, result: op.f32x4FirstLane,
           macs: 4},
    scalar: {...floats, type: f32, splat: [], mul: op.f32Mul, add: op.f32Add, result: [], macs: 1},
  },
  int8: {
    relaxed: {...bytes, type: v128, splat: op.i8x16Splat, fused: op.i32x4RelaxedDotAdd, add: op.i32x4Add,
              result: op.f32x4FirstLane, macs: 16},
    simd: {...bytes, type: v128, splat: op.i8x16Splat, mul: op.i32x4DotI16x8, add: op.i32x4Add,
           result: op.f32x4FirstLane, macs: 8},
    scalar: {...bytes, type: i32, splat: [], mul: op.i32Mul, add: op.i32Add, result: op.f32ReinterpretI32, macs: 1},
  },
};

/**
 * Returns the bytes of a module that exports peak(rounds: i32) -> f32. Each round of peak() computes a multiply-add for
 * each of `sums` independent sums.
 */
export function peakModule(kind, {precision = "float32", sums = sumsOf[precision][kind]} = {}) {
  const unit = units[precision][kind];
  const [rounds, factor, term, firstSum] = [0, 1, 2, 3];
  const each = write => Array.from({length: sums}, (_, i) => write(firstSum + i)).flat();
  const constant = (local, x) => [...x, ...unit.splat, ...op.set(local)];
  // No float sum overflows. Without `fused`, a step computes `sum * factor + term`, which converges to 1. With `fused`,
  // a step computes `factor * term + sum`, as in kernels. This sum grows until an addition of 0.0001 no longer changes
  // it. With `fused`, `sum * factor + term` would be slower: the x86-64 instruction overwrites its addend, so V8 would
  // have to copy `term` before each step.
  const multiplyAdd = unit.fused ?
    sum => [...op.get(factor), ...op.get(term), ...op.get(sum), ...unit.fused, ...op.set(sum)] :
    sum => [...op.get(sum), ...op.get(factor), ...unit.mul, ...op.get(term), ...unit.add, ...op.set(sum)];
  const body = [
    ...constant(factor, unit.factor), ...constant(term, unit.term),
    ...each(sum => constant(sum, unit.sum(sum))),
    ...op.loop,
    ...each(multiplyAdd),
    ...op.get(rounds), ...op.i32Const(1), ...op.i32Sub, ...op.tee(rounds), ...op.brIf(0),
    ...op.end,
    ...op.get(firstSum), ...each(sum => [...op.get(sum), ...unit.add]), ...unit.result,
    ...op.end,
  ];
  const code = [1, ...leb(2 + sums), unit.type, ...body];  // one group of locals of the same type
  return Uint8Array.from([
    0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00,
    ...section(1, [1, 0x60, 1, i32, 1, f32]),                           // type 0: (i32) -> f32
    ...section(3, [1, 0]),                                              // function 0: of type 0
    ...section(7, [1, 4, ...new TextEncoder().encode("peak"), 0, 0]),   // export
    ...section(10, [1, ...leb(code.length), ...code]),
  ]);
}

const leb = n => n < 128 ? [n] : [(n & 127) | 128, ...leb(n >> 7)];
const section = (id, bytes) => [id, ...leb(bytes.length), ...bytes];

/**
 * Returns {kind, precision, flops, run()} for a kind of module. run() computes `flops` flops at the peak rate, which
 * takes about `milliseconds`. A multiply-add counts as two flops, also for integers. The engine has already optimised
 * the code of run().
 */
export async function makePeak(kind, {precision = "float32", milliseconds = 1, sums = sumsOf[precision][kind]} = {}) {
  const {instance} = await WebAssembly.instantiate(peakModule(kind, {precision, sums}));
  const {peak} = instance.exports;
  const time = rounds => {
    const start = performance.now();
    peak(rounds);
    return performance.now() - start;
  };
  // Calls `peak` often, with pauses: V8 optimises the code in another thread during the pauses, and enters the
  // optimised code only at a call.
  for (let i = 0; i < 20; ++i) {
    for (let k = 0; k < 50; ++k) peak(200);
    await new Promise(resolve => setTimeout(resolve, 2));
  }
  let rounds = 1000;
  while (Math.min(time(rounds), time(rounds), time(rounds)) < milliseconds) rounds *= 2;
  const best = Math.min(time(rounds), time(rounds), time(rounds));
  rounds = Math.max(1, Math.round(rounds * milliseconds / best));
  return {kind, precision, flops: 2 * units[precision][kind].macs * sums * rounds, run: () => peak(rounds)};
}
