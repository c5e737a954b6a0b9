// SPDX-License-Identifier: Apache-2.0
// Prepares the text for the model of the date reader, and converts digits to a date.

/** The largest number of characters of a text, counted after runs of spaces became one space. */
export const longestText = 40;
const firstYear = 1000;
const lastYear = 2999;

export type DateStatus = "date" | "no-date" | "empty" | "too-long" | "not-ascii";

export interface Squeezed {
  /** "date" if the model can read the text, which may or may not be a date. Otherwise, the reason why it cannot. */
  readonly status: DateStatus;
  /** The text in lower case, with runs of spaces as one space and no spaces at the ends. */
  readonly characters: readonly string[];
}

export function squeeze(text: string): Squeezed {
  const characters: string[] = [];
  let gap = false;
  let tooLong = false;
  for (let i = 0; i < text.length; ++i) {
    const c = text.charAt(i);
    if (c >= "\x80") return { status: "not-ascii", characters };
    if (c === " " || (c >= "\t" && c <= "\r")) {
      gap = characters.length > 0;
      continue;
    }
    if (characters.length + (gap ? 2 : 1) > longestText) tooLong = true;
    if (tooLong) continue;
    if (gap) characters.push(" ");
    characters.push(c.toLowerCase());
    gap = false;
  }
  const status = tooLong ? "too-long" : characters.length === 0 ? "empty" : "date";
  return { status, characters };
}

function inCalendar(year: number, month: number, day: number): boolean {
  if (year < firstYear || year > lastYear || month < 1 || month > 12) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day >= 1 && day <= days[month - 1]!;
}

/** Returns a date such as "2024-02-03"; null if a digit is missing, or if the calendar does not have the day. */
export function isoDate(digits: readonly (number | null)[]): string | null {
  if (digits.includes(null)) return null;
  const number = (first: number, end: number) => digits.slice(first, end).join("");
  const [year, month, day] = [number(0, 4), number(4, 6), number(6, 8)];
  return inCalendar(Number(year), Number(month), Number(day)) ? `${year}-${month}-${day}` : null;
}
