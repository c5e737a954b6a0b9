// Formats numbers for the page.

const grouping = new Intl.NumberFormat("en");

/** Returns, for example, "171,692". */
export function grouped(count: number): string {
  return grouping.format(count);
}

/** Returns, for example, "23.4 KB". A KB is 1000 bytes. */
export function bytes(count: number): string {
  if (count < 1000) return `${count} bytes`;
  const [unit, size] = count < 999_500 ? ["KB", count / 1e3] : ["MB", count / 1e6];
  return `${size < 99.95 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

/** Returns "98%" or, with a decimal, "98.2%". The number is truncated, so that only a share of 1 gives "100%". */
export function percent(share: number, decimals = 0): string {
  const scale = 100 * 10 ** decimals;
  return `${(Math.floor(share * scale + 1e-6) / 10 ** decimals).toFixed(decimals)}%`;
}

/** Returns, for example, "12.9 µs" or "3.1 ms". */
export function duration(milliseconds: number): string {
  const [value, unit] = milliseconds < 1 ? [milliseconds * 1000, "µs"] : [milliseconds, "ms"];
  return `${value < 99.95 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}
