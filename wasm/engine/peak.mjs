// The ceiling of a kind of module: multiply-adds a second of one thread, from registers alone, in this engine. This
// file writes the modules that reach the ceiling byte by byte, so that they need no build.

/** What the modules of Ladon's three variants can multiply and add with. */
export const kinds = ["relaxed", "simd", "scalar"];

/** Whether this engine runs a kind at all. */
export const runs = kind => WebAssembly.validate(peakModule(kind, 1));

// Sums enough to hide the latency of a multiply and an add, one after the other (8 cycles, of which each of two ports
// takes a sum's every second instruction: 8 sums); with the two factors no more than V8 has registers on x86-64 (15).
const sumsOf = {relaxed: 12, simd: 12, scalar: 12};

const [i32, f32, v128] = [0x7f, 0x7d, 0x7b];
const op = {
  end: [0x0b], loop: [0x03, 0x40], brIf: depth => [0x0d, depth],
  get: local => [0x20, local], set: local => [0x21, local], tee: local => [0x22, local],
  i32Const1: [0x41, 0x01], i32Sub: [0x6b], f32Const: x => [0x43, ...new Uint8Array(Float32Array.of(x).buffer)],
  f32Add: [0x92], f32Mul: [0x94], splat: [0xfd, 0x13], firstLane: [0xfd, 0x1f, 0x00],
  f32x4Add: [0xfd, 0xe4, 0x01], f32x4Mul: [0xfd, 0xe6, 0x01], f32x4RelaxedMadd: [0xfd, 0x85, 0x02],
};
const scalar = {type: f32, broadcast: [], first: [], add: op.f32Add, mul: op.f32Mul};
const vector = {type: v128, broadcast: op.splat, first: op.firstLane, add: op.f32x4Add, mul: op.f32x4Mul};

/** A module that exports peak(rounds: i32) -> f32: `sums` independent multiply-adds a round. */
export function peakModule(kind, sums = sumsOf[kind]) {
  const unit = kind === "scalar" ? scalar : vector;
  const [rounds, factor, term, firstSum] = [0, 1, 2, 3];
  const each = write => Array.from({length: sums}, (_, i) => write(firstSum + i)).flat();
  const constant = (local, x) => [...op.f32Const(x), ...unit.broadcast, ...op.set(local)];
  // Fixed points near 1, so nothing overflows, and no engine can know it; the fused form adds to its sum, as kernels do
  // and as the instruction wants it: any other order takes a copy between registers.
  const multiplyAdd = kind === "relaxed" ?
    sum => [...op.get(factor), ...op.get(term), ...op.get(sum), ...op.f32x4RelaxedMadd, ...op.set(sum)] :
    sum => [...op.get(sum), ...op.get(factor), ...unit.mul, ...op.get(term), ...unit.add, ...op.set(sum)];
  const body = [
    ...constant(factor, 0.9999), ...constant(term, 0.0001),
    ...each(sum => constant(sum, 0.9 + 0.01 * sum)),
    ...op.loop,
    ...each(multiplyAdd),
    ...op.get(rounds), ...op.i32Const1, ...op.i32Sub, ...op.tee(rounds), ...op.brIf(0),
    ...op.end,
    ...op.f32Const(0), ...unit.broadcast, ...each(sum => [...op.get(sum), ...unit.add]), ...unit.first,
    ...op.end,
  ];
  const code = [1, ...leb(2 + sums), unit.type, ...body];  // one run of locals, all of one type
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
 * The peak of a kind: {flops, run()}, where a run does `flops` in about `milliseconds`. It is warm: the engine has
 * optimised it.
 */
export async function makePeak(kind, {milliseconds = 1, sums = sumsOf[kind]} = {}) {
  const {instance} = await WebAssembly.instantiate(peakModule(kind, sums));
  const {peak} = instance.exports;
  const time = rounds => {
    const start = performance.now();
    peak(rounds);
    return performance.now() - start;
  };
  // Called again and again, as V8 enters optimised code only at a call, and with pauses, in which it finishes that.
  for (let i = 0; i < 20; ++i) {
    for (let k = 0; k < 50; ++k) peak(200);
    await new Promise(resolve => setTimeout(resolve, 2));
  }
  let rounds = 1000;
  while (Math.min(time(rounds), time(rounds), time(rounds)) < milliseconds) rounds *= 2;
  const best = Math.min(time(rounds), time(rounds), time(rounds));
  rounds = Math.max(1, Math.round(rounds * milliseconds / best));
  const lanes = kind === "scalar" ? 1 : 4;
  return {kind, flops: 2 * lanes * sums * rounds, run: () => peak(rounds)};
}
