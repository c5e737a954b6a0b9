/** Calls back when the page is idle. Safari has no requestIdleCallback, so a timer replaces the function there. */
export function whenIdle(callback: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(callback, { timeout: 1000 });
  else setTimeout(callback, 50);
}
