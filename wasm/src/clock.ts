// SPDX-License-Identifier: Apache-2.0
// Measures the steps of performance.now(). Browsers round this clock: Chromium to 0.1 ms, Firefox and WebKit to 1 ms.

const stepsOfTime = 50; // a time of 50 steps has an error of 2%
const changes = 5;
const mostReads = 2_000_000; // some hosts, such as workerd, stop the clock while code runs

/** Returns the shortest of several steps of the clock in milliseconds, or 0 if the clock stands still. */
const clockStep = (): number => {
  let [step, seen, last] = [Infinity, 0, performance.now()];
  for (let read = 0; read < mostReads && seen < changes; ++read) {
    const now = performance.now();
    if (now === last) continue;
    if (seen++) step = Math.min(step, now - last); // the first change ends a step that had already begun
    last = now;
  }
  return seen > 1 ? step : 0;
};

/** Returns the shortest time in milliseconds that this clock measures to 2%, and at least `least`. */
export const shortestTime = (least: number): number => Math.max(least, stepsOfTime * clockStep());
