// Computes the attention between words from the attention between their pieces.

/** Consecutive tokens that form one word of the text, or one special token ([CLS] or [SEP]). */
export interface Word {
  /** The text of the word, in lower case and without accents, as in the model's input. */
  readonly text: string;
  readonly first: number;
  readonly count: number;
  readonly special: boolean;
}

/** Joins tokens to words. The tokens are a result of SentenceEncoder.tokens. */
export function wordsOf(tokens: readonly string[]): Word[] {
  const words: Word[] = [];
  tokens.forEach((piece, first) => {
    const special = first === 0 || first === tokens.length - 1;
    const last = words.at(-1);
    // A token that begins with "##" continues the previous word. A "##" that the user types does not lead to such a
    // token, because the tokenizer makes each punctuation sign a separate word.
    if (!special && last && piece.startsWith("##")) {
      words[words.length - 1] = { ...last, text: last.text + piece.slice(2), count: last.count + 1 };
    } else {
      words.push({ text: piece, first, count: 1, special });
    }
  });
  return words;
}

/**
 * Returns the attention weights from the word `from` to each word. A word can have several tokens. Weights to the
 * tokens of a word are added, and weights from the tokens of `from` are averaged (Clark et al., arXiv 1906.04341,
 * section 4.1). `map` is [tokens][tokens].
 */
export function wordWeights(map: Float32Array, from: Word, words: readonly Word[]): number[] {
  const tokens = Math.sqrt(map.length);
  return words.map((word) => {
    let sum = 0;
    for (let row = from.first; row < from.first + from.count; ++row) {
      for (let at = word.first; at < word.first + word.count; ++at) sum += map[row * tokens + at]!;
    }
    return sum / from.count;
  });
}
