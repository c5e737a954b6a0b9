// SPDX-License-Identifier: Apache-2.0
// BERT's uncased WordPiece (Devlin et al., arXiv 1810.04805; google-research/bert, tokenization.py). A text is split
// into words. Each word is split, from its beginning, into the longest pieces in the vocabulary. The Unicode tables are
// those of the engine.
//
// The library of tokenizer.ts cannot take the place of this file. Version 0.2.0 gives other ids than the model was
// trained with for 2 of the 37 texts of the conformance data: it writes a final sigma, and joins ideographs above U+FFFF.
// A text of 300,000 combining marks takes it 194 s (this file: 1.5 s). It would also add 11 KB, gzipped, to minilm.js.
import { checkCount, checkText } from "./check.js";
import { LadonError } from "./core.js";

const longestWord = 100; // code points; a longer word is [UNK]

// Matches the code points that wordsOf removes in its step 1, and surrogates without a partner (Cs). The C++ tokenizer
// meets no surrogates, but drops bytes that are not UTF-8.
const dropped = /[\u{FFFD}\p{Cf}\p{Co}\p{Cs}]|(?![\t\n\r])\p{Cc}/u;
const space = /[\t\n\r\p{Zs}\p{Zl}\p{Zp}]/u;
// The blocks of CJK ideographs that BERT's tokenizers know. As in the library `tokenizers`, the block of extension E
// begins at U+2B920, and not at U+2B820.
const blocks =
  "\\u3400-\\u4DBF\\u4E00-\\u9FFF\\uF900-\\uFAFF\\u{20000}-\\u{2A6DF}\\u{2A700}-\\u{2B73F}" +
  "\\u{2B740}-\\u{2B81F}\\u{2B920}-\\u{2CEAF}\\u{2F800}-\\u{2FA1F}";
// Matches ASCII letters and digits. wordsOf only converts them to lower case, so `put` tests for them first and can
// skip all other tests.
const plain = /[\dA-Za-z]/;
const ideograph = new RegExp(`[${blocks}]`, "u");
const mark = /\p{M}/u;
const accent = /\p{Mn}/u;
const punctuation = /[!-/:-@[-`{-~\p{P}]/u;

// A combining mark of the highest combining class, with which isOfClass0 tests the class of a code point `c`.
// normalize("NFD") moves `lastMark` behind all following marks of other classes, but never behind a code point of class
// 0. If (lastMark + c).normalize("NFD") ends with `lastMark`, `c` is not of class 0.
const lastMark = "\u0345";
const isOfClass0 = (c: string): boolean => !mark.test(c) || !(lastMark + c).normalize("NFD").endsWith(lastMark);

// Collects words, code point by code point. normalize("NFD") sorts a run of marks in quadratic time. So this class
// drops accents first, and sorts only the other marks.
class WordMaker {
  // The words that were completed since the last call of `takeWords`; undefined if no word was completed.
  #words: string[] | undefined;
  #word = "";
  // Combining marks that follow `#word`. `#endMarks` sorts these marks (NFD) and appends them to `#word`. Accents (Mn)
  // never enter `#marks`, because #putDecomposed drops accents.
  #marks = "";

  takeWords(): string[] | undefined {
    const words = this.#words;
    this.#words = undefined;
    return words;
  }

  put(c: string): void {
    if (plain.test(c)) this.#putLetter(c);
    else if (space.test(c)) this.endWord();
    else if (ideograph.test(c)) this.#putWord(c.normalize("NFD"));
    else if (!dropped.test(c)) for (const part of c.normalize("NFD")) this.#putDecomposed(part);
  }

  endWord(): void {
    this.#endMarks();
    if (this.#word) (this.#words ??= []).push(this.#word);
    this.#word = "";
  }

  #putWord(word: string): void {
    this.endWord();
    (this.#words ??= []).push(word);
  }

  #putDecomposed(c: string): void {
    const isStarter = isOfClass0(c);
    if (isStarter) this.#endMarks();
    if (accent.test(c)) return;
    if (!isStarter) this.#putMark(c);
    else if (punctuation.test(c)) this.#putWord(c);
    else this.#putLetter(c);
  }

  #putLetter(c: string): void {
    this.#endMarks();
    this.#word += c.toLowerCase();
  }

  // NFD sorts a run of marks in quadratic time, so a run of more than 512 UTF-16 code units (more than 256 marks) is
  // split. The order of so many marks does not matter, because a word of more than 100 code points becomes [UNK].
  #putMark(c: string): void {
    this.#marks += c;
    if (this.#marks.length > 512) this.#endMarks();
  }

  #endMarks(): void {
    if (this.#marks) this.#word += this.#marks.normalize("NFD");
    this.#marks = "";
  }
}

// Cleans a text and splits it into words, as in the training of BERT's uncased models:
//   1. Remove U+0000, U+FFFD, controls (Cc except tab, LF, CR), format (Cf) and private (Co) characters.
//   2. Replace whitespace by a space, and put spaces around each CJK ideograph. Step 2 precedes step 3, because step 3
//      decomposes ideographs of the compatibility blocks into other ideographs.
//   3. Decompose (NFD) and remove accents (Mn).
//   4. Convert each code point to lower case. Conversion of the whole text would change a final sigma.
//   5. Split at spaces. Each punctuation character (P*, and every ASCII sign) is a word.
// wordsOf is a generator: if the caller stops after some words, the rest of the text is not read. The time is linear in
// the length of the text that is read.
function* wordsOf(text: string): Generator<string> {
  const maker = new WordMaker();
  for (const c of text) {
    maker.put(c);
    const words = maker.takeWords();
    if (words) yield* words;
  }
  maker.endWord();
  yield* maker.takeWords() ?? [];
}

/** Returns all words of a text. */
export const splitWords = (text: string): string[] => Array.from(wordsOf(text));

export class WordPiece {
  readonly pieces: readonly string[];
  readonly #ids = new Map<string, number>();
  readonly #unknown: number;
  readonly #begin: number; // [CLS]
  readonly #end: number; // [SEP]

  // Reads a vocabulary with one piece per line. The id of a piece is its line number, counted from 0. Throws LadonError
  // if [UNK], [CLS] or [SEP] is missing.
  constructor(vocabulary: string) {
    const lines = checkText("vocabulary", vocabulary).split("\n");
    if (lines.at(-1) === "") lines.pop();
    this.pieces = lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
    this.pieces.forEach((piece, id) => this.#ids.set(piece, id));
    this.#unknown = this.#special("[UNK]");
    this.#begin = this.#special("[CLS]");
    this.#end = this.#special("[SEP]");
  }

  // Returns the ids of [CLS], the pieces, and [SEP]. The text is cut to `maxTokens` ids, which is at least 2.
  encode(text: string, maxTokens: number): number[] {
    checkCount("maxTokens", maxTokens, Number.MAX_SAFE_INTEGER, 2);
    const ids = [this.#begin];
    for (const word of wordsOf(checkText("text", text))) {
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

  // Returns the ids of a word's pieces; [UNK] if the word is too long or if a part of it is not in the vocabulary.
  #idsOf(word: string): number[] {
    if (word.length > 2 * longestWord || Array.from(word).length > longestWord) return [this.#unknown];
    const ids: number[] = [];
    for (let begin = 0; begin < word.length;) {
      const end = this.#endOfPiece(word, begin);
      if (end === begin) return [this.#unknown];
      ids.push(this.#ids.get(pieceText(word, begin, end))!);
      begin = end;
    }
    return ids;
  }

  // Returns the end of the longest piece in the vocabulary that begins at `begin`. Returns `begin` if there is no such
  // piece. A surrogate pair is never split, because no piece in a vocabulary ends within a pair.
  #endOfPiece(word: string, begin: number): number {
    let end = word.length;
    while (end > begin && !this.#ids.has(pieceText(word, begin, end))) --end;
    return end;
  }
}

function pieceText(word: string, begin: number, end: number): string {
  return (begin === 0 ? "" : "##") + word.slice(begin, end);
}
