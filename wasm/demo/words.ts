// Attention between words, from attention between their pieces.

/** Some tokens in a row that were one word of the text, or [CLS] or [SEP]. */
export interface Word {
  /** In lower case and without accents, as the model sees it. */
  readonly text: string;
  readonly first: number;
  readonly count: number;
  readonly special: boolean;
}

/** The words of what SentenceEncoder.tokens gave. */
export function wordsOf(tokens: readonly string[]): Word[] {
  const words: Word[] = [];
  tokens.forEach((piece, first) => {
    const special = first === 0 || first === tokens.length - 1;
    const last = words.at(-1);
    // A word of the text is never "##..": '#' is a punctuation sign, so a word by itself.
    if (!special && last && piece.startsWith("##")) {
      words[words.length - 1] = { ...last, text: last.text + piece.slice(2), count: last.count + 1 };
    } else {
      words.push({ text: piece, first, count: 1, special });
    }
  });
  return words;
}

/**
 * Returns the attention weights from the word `from` to each word. The weights are added over the pieces of the other
 * word, and averaged over the pieces of `from` (Clark et al., arXiv 1906.04341, section 4.1). `map` is [tokens][tokens].
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
