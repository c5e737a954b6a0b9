// Makes texts with a given number of tokens: the first words of a passage. Each word of the passage is one token.
const passage = `
  the old man walked down to the river every morning before the sun came up over the hills he took a small boat and a
  long line and he waited for the fish to come most days he had nothing to show when he went back to the house but on
  this day the water was clear and cold and he could see the stones at the bottom he thought of his wife who had loved
  the sea and of the years they had spent in the city far from any water then the line went tight and he pulled with
  both hands until a great silver fish lay in the boat he looked at it for a long time and then he put it back into
  the water because the morning was too good to end so soon and he was in no hurry to go home to an empty kitchen`;
const words = passage.trim().split(/\s+/);

/**
 * Returns a text with `tokens` tokens, including [CLS] and [SEP]. The function ids(text) returns the tokens of a text.
 */
export function textOf(tokens, ids) {
  const text = words.slice(0, tokens - 2).join(" ");
  if (ids(text).length !== tokens) throw new Error(`no text of ${tokens} tokens, but of ${ids(text).length}`);
  return text;
}
