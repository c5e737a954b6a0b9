// Of a long list the begin is enough to see what is wrong; an error's property has all of it.
export const shown = (value: unknown): string => {
  try {
    return String(value).slice(0, 200);
  } catch {
    return typeof value; // an object without a prototype has no text
  }
};
