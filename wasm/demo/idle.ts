/** Calls back when nothing else is to be done; Safari has no requestIdleCallback. */
export function whenIdle(callback: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(callback, { timeout: 1000 });
  else setTimeout(callback, 50);
}
