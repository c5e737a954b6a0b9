// BERT's WordPiece, as examples/minilm/tests/test_word_piece.cpp has it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LadonError } from "../dist/index.js";
import { splitWords, WordPiece } from "../dist/minilm.js";

const piecesOf = (tokenizer, text, most = 256) => tokenizer.encode(text, most).map((id) => tokenizer.pieces[id]);

const cases = [
  [
    "words end at whitespace of every kind",
    [
      ["", []],
      [" \t\r\n ", []],
      ["a b\tc\nd\re\r\nf", ["a", "b", "c", "d", "e", "f"]],
      ["a\u00A0b\u2003c\u3000d\u2028e\u2029f\u1680g", ["a", "b", "c", "d", "e", "f", "g"]],
    ],
  ],
  [
    "controls, format signs, private signs, U+FFFD and half a pair vanish without ending a word",
    [
      ["a\0b\x07c\x7fd\x0be\x0cf\u0085g\uFFFDh", ["abcdefgh"]],
      ["a\u200Bb\u200Dc\uFEFFd\u00ADe\u202Ef", ["abcdef"]],
      ["a\uE000b\uF8FFc\u{F0000}d\u{10FFFD}e", ["abcde"]],
      ["a\u180Eb", ["ab"]], // once a space, now Cf
      ["a\uD800b\uDC00c", ["abc"]],
    ],
  ],
  [
    "a CJK ideograph is a word, kana and Hangul are not cut",
    [
      ["a\u6771\u4EACb", ["a", "\u6771", "\u4EAC", "b"]],
      ["\u{20000}\u{2A700}", ["\u{20000}", "\u{2A700}"]],
      ["\uF900", ["\u8C48"]], // a compatibility ideograph decomposes
      ["\u306F\u306E", ["\u306F\u306E"]],
      ["\uD55C", ["\u1112\u1161\u11AB"]], // a syllable decomposes
    ],
  ],
  [
    "accents go, compatibility forms stay",
    [
      ["D\u00E9j\u00E0 e\u0301 \u00C5\u212B \u01D8", ["deja", "e", "aa", "u"]],
      ["\uFB01 \u2167 \u00BD \u00B2", ["\uFB01", "\u2177", "\u00BD", "\u00B2"]],
      ["\u093F", ["\u093F"]], // a spacing mark (Mc) stays
      ["\u20DD", ["\u20DD"]], // an enclosing one (Me) too
      ["\u0301\u0301", []], // nothing but accents is no word
    ],
  ],
  [
    "lower case goes code point by code point",
    [
      ["ABC \u00DCBER", ["abc", "uber"]],
      ["\u0130I", ["ii"]],
      ["\u03A3\u0391\u03A3", ["\u03C3\u03B1\u03C3"]], // no final sigma
      ["stra\u00DFe \u1E9E", ["stra\u00DFe", "\u00DF"]],
      ["\u0401\u041B\u041A\u0410", ["\u0435\u043B\u043A\u0430"]],
    ],
  ],
  [
    "each punctuation sign is a word",
    [
      ["don't", ["don", "'", "t"]],
      ["!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", [..."!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"]],
      ["\u201Ca\u201D\u2014b\u2026", ["\u201C", "a", "\u201D", "\u2014", "b", "\u2026"]],
      ["a\u20ACb\u00A9c", ["a\u20ACb\u00A9c"]], // other symbols are not
      ["[SEP]", ["[", "sep", "]"]], // plain text, no token of its own
      ["a\u037Eb", ["a", ";", "b"]], // the Greek question mark decomposes
    ],
  ],
];
for (const [name, texts] of cases) {
  test(name, () => texts.forEach(([text, words]) => assert.deepEqual(splitWords(text), words, JSON.stringify(text))));
}

test("a word is cut into the longest pieces that are known", () => {
  const tokenizer = new WordPiece(
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\n##a\nunaf\n##f\n.\n\u6771\n##\u00DF\ns\n",
  );
  assert.deepEqual(tokenizer.encode("", 256), [2, 3]);
  assert.deepEqual(piecesOf(tokenizer, "Unaffable."), ["[CLS]", "unaf", "##f", "##able", ".", "[SEP]"]);
  assert.deepEqual(piecesOf(tokenizer, "unaffx s"), ["[CLS]", "[UNK]", "s", "[SEP]"]);
  assert.deepEqual(piecesOf(tokenizer, "aff"), ["[CLS]", "[UNK]", "[SEP]"]);
  assert.deepEqual(piecesOf(tokenizer, "s\u00DF\u6771"), ["[CLS]", "s", "##\u00DF", "\u6771", "[SEP]"]);
  // ## of the text is not the mark.
  assert.deepEqual(piecesOf(tokenizer, "##able"), ["[CLS]", "[UNK]", "[UNK]", "[UNK]", "[SEP]"]);
});

test("a word of more than 100 code points is unknown", () => {
  const tokenizer = new WordPiece("[UNK]\n[CLS]\n[SEP]\na\n##a\n\u{10437}\n##\u{10437}\n");
  assert.equal(tokenizer.encode("a".repeat(100), 256).length, 102);
  assert.deepEqual(tokenizer.encode("a".repeat(101), 256), [1, 0, 2]);
  assert.equal(tokenizer.encode("\u{10437}".repeat(100), 256).length, 102); // 200 units of UTF-16
  assert.deepEqual(tokenizer.encode(`${"\u{10437}".repeat(100)}a`, 256), [1, 0, 2]);
});

test("a long text is cut before [SEP]", () => {
  const tokenizer = new WordPiece("[UNK]\n[CLS]\n[SEP]\na\n##a\n");
  assert.deepEqual(piecesOf(tokenizer, "a a a a a", 5), ["[CLS]", "a", "a", "a", "[SEP]"]);
  assert.deepEqual(piecesOf(tokenizer, "a aaaa", 5), ["[CLS]", "a", "a", "##a", "[SEP]"]);
  assert.deepEqual(piecesOf(tokenizer, "a", 2), ["[CLS]", "[SEP]"]);
  const ids = tokenizer.encode("a ".repeat(1000), 256);
  assert.equal(ids.length, 256);
  assert.equal(ids.at(-1), 2);
});

test("vocabularies with Windows line ends, or without an end, are read; one that is none is refused", () => {
  const tokenizer = new WordPiece("[UNK]\r\n[CLS]\r\n[SEP]\r\na");
  assert.equal(tokenizer.pieces.length, 4);
  assert.deepEqual(tokenizer.encode("a", 256), [1, 3, 2]);
  assert.throws(
    () => new WordPiece("[UNK]\n[CLS]\n"),
    (error) => error instanceof LadonError && error.code === "weights" && error.message.includes("[SEP]"),
  );
});
