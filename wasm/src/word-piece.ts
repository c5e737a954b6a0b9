// BERT's uncased WordPiece (Devlin et al., arXiv 1810.04805; google-research/bert, tokenization.py): a text is cut into
// words, and each word, from its beginning on, into the longest pieces that the vocabulary has. Unicode's tables are
// the engine's.
import { LadonError } from "./index.js";

const longestWord = 100; // code points; a longer word is [UNK]

// Of a broken pair of surrogates either half vanishes, as bytes do that are no UTF-8.
const dropped = /[\u{FFFD}\p{Cf}\p{Co}\p{Cs}]|(?![\t\n\r])\p{Cc}/gu;
const space = /[\t\n\r\p{Zs}\p{Zl}\p{Zp}]/gu;
// The blocks that BERT's tokenizers know; later extensions are not among them. The gap before U+2B920 (extension E
// begins at U+2B820) is the one of the `tokenizers` library.
const blocks =
  "\\u3400-\\u4DBF\\u4E00-\\u9FFF\\uF900-\\uFAFF\\u{20000}-\\u{2A6DF}\\u{2A700}-\\u{2B73F}" +
  "\\u{2B740}-\\u{2B81F}\\u{2B920}-\\u{2CEAF}\\u{2F800}-\\u{2FA1F}";
const ideograph = new RegExp(`[${blocks}]`, "gu");
const accent = /\p{Mn}/gu;
const punctuation = /[!-/:-@[-`{-~\p{P}]/gu;

// Cleans a text and cuts it into words, as BERT's uncased models were trained to see them:
//   1. U+0000, U+FFFD, controls (Cc but tab, LF, CR), format (Cf) and private (Co) signs go,
//   2. whitespace becomes a space, and a CJK ideograph gets one on either side (before step 3: the compatibility blocks
//      decompose to others),
//   3. canonical decomposition (NFD), and the accents (Mn) go,
//   4. lower case, code point by code point: of a whole text, a final sigma would become another,
//   5. a word ends at a space; a punctuation sign (P*, and every ASCII sign) is a word by itself.
export function splitWords(text: string): string[] {
  const cleaned = text.replace(dropped, "").replace(space, " ").replace(ideograph, " $& ");
  const plain = cleaned.normalize("NFD").replace(accent, "");
  const lower = Array.from(plain, (character) => character.toLowerCase()).join("");
  return lower
    .replace(punctuation, " $& ")
    .split(" ")
    .filter((word) => word !== "");
}

export class WordPiece {
  readonly pieces: readonly string[];
  readonly #ids = new Map<string, number>();
  readonly #unknown: number;
  readonly #begin: number; // [CLS]
  readonly #end: number; // [SEP]

  // The text of a vocabulary: one piece a line, its line number (from 0) is its id. Throws LadonError where it lacks
  // [UNK], [CLS] or [SEP].
  constructor(vocabulary: string) {
    const lines = vocabulary.split("\n");
    if (lines.at(-1) === "") lines.pop();
    this.pieces = lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
    this.pieces.forEach((piece, id) => this.#ids.set(piece, id));
    this.#unknown = this.#special("[UNK]");
    this.#begin = this.#special("[CLS]");
    this.#end = this.#special("[SEP]");
  }

  // [CLS] pieces.. [SEP], at most `maxTokens` (two or more) in all: the rest of the text is cut.
  encode(text: string, maxTokens: number): number[] {
    const ids = [this.#begin];
    for (const word of splitWords(text)) {
      ids.push(...this.#idsOf(word));
      if (ids.length >= maxTokens) break;
    }
    ids.length = Math.min(ids.length, maxTokens - 1);
    ids.push(this.#end);
    return ids;
  }

  #special(piece: string): number {
    const id = this.#ids.get(piece);
    if (id !== undefined) return id;
    throw new LadonError("weights", "lines of a vocabulary", piece, `${this.pieces.length} others`);
  }

  // A word too long, or with one piece that is not in the vocabulary, is unknown as a whole.
  #idsOf(word: string): number[] {
    if (Array.from(word).length > longestWord) return [this.#unknown];
    const ids: number[] = [];
    for (let begin = 0; begin < word.length;) {
      const end = this.#endOfPiece(word, begin);
      if (end === begin) return [this.#unknown];
      ids.push(this.#ids.get(pieceText(word, begin, end))!);
      begin = end;
    }
    return ids;
  }

  // Where the longest piece that begins there ends; at its beginning where there is none. No piece of a vocabulary ends
  // between two surrogates, so none is cut there.
  #endOfPiece(word: string, begin: number): number {
    let end = word.length;
    while (end > begin && !this.#ids.has(pieceText(word, begin, end))) --end;
    return end;
  }
}

function pieceText(word: string, begin: number, end: number): string {
  return (begin === 0 ? "" : "##") + word.slice(begin, end);
}
