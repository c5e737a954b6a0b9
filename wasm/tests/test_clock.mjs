// Tests times that are divided by a number of calls, with clocks that have long steps or stand still.
import assert from "node:assert/strict";
import { test } from "node:test";
import { buildSync } from "esbuild";
import { load } from "../dist/index.js";
import { fileURLToPath } from "node:url";

const bundled = (path) => {
  const entryPoints = [fileURLToPath(new URL(path, import.meta.url))];
  const { outputFiles } = buildSync({ entryPoints, bundle: true, format: "esm", write: false });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
};
const { shortestTime } = await bundled("../src/clock.ts");
const { timesOf } = await bundled("../demo/timing.ts");

/** Runs `act` while `now` replaces performance.now. In Node 18, performance.now itself cannot be replaced. */
const withClock = async (now, act) => {
  const original = Object.getOwnPropertyDescriptor(globalThis, "performance");
  Object.defineProperty(globalThis, "performance", { value: { now }, configurable: true });
  try {
    return await act();
  } finally {
    Object.defineProperty(globalThis, "performance", original);
  }
};

/** A clock with steps of `step` ms. Time passes only by reading the clock and by `pass`. */
const coarseClock = (step) => {
  let time = 0;
  return {
    now: () => Math.floor((time += 0.001) / step) * step,
    pass: (milliseconds) => void (time += milliseconds),
  };
};

test("the shortest time is 50 steps of the clock", async () => {
  for (const step of [0.1, 1, 16]) {
    const shortest = await withClock(coarseClock(step).now, () => shortestTime(3));
    assert.ok(Math.abs(shortest - Math.max(3, 50 * step)) < 0.01, `${step}: ${shortest}`);
  }
  assert.equal(await withClock(() => 7, () => shortestTime(3)), 3, "a clock that stands still");
  assert.equal(shortestTime(3), 3, "Node's clock");
});

test("a clock with steps of 1 ms gives the times of short calls", async () => {
  const clock = coarseClock(1);
  const lengths = [0.001, 0.3, 2.3, 70];
  const times = await withClock(clock.now, () => timesOf(lengths.map((length) => () => clock.pass(length))));
  times.forEach((time, i) => assert.ok(Math.abs(time / lengths[i] - 1) < 0.025, `${lengths[i]}: ${time}`));
});

const kernel = await load("attention_64_4");

test("a warm-up with a clock of 1 ms gives the time of a call, and not that of no call", async () => {
  const original = performance.now.bind(performance);
  const fine = (await kernel.warmUp({ tokens: 16 })).best;
  const { best, first, calls, total } = await withClock(() => Math.floor(original()), () => kernel.warmUp({ tokens: 16 }));
  assert.ok(best > fine / 4 && best < 4 * fine, `${best} ms, ${fine} ms with a fine clock`);
  assert.ok(calls > 50 && first <= total);
});

test("a warm-up ends where the clock stands still", { timeout: 20_000 }, async () => {
  const { calls, first, best, total } = await withClock(() => 1, () => kernel.warmUp());
  assert.deepEqual([calls, first, best, total], [504, 0, 0, 0]);
});

test("a warm-up ends after its time where the clock moves only in pauses", { timeout: 20_000 }, async () => {
  let time = 0;
  const pauses = setInterval(() => (time += 40), 0);
  const { calls, best } = await withClock(() => time, () => kernel.warmUp({ most: 200 }));
  clearInterval(pauses);
  assert.ok(calls < 504 && best === 0, `${calls} calls, ${best} ms`);
});
