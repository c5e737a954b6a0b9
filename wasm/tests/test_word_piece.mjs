// Tests BERT's WordPiece.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LadonError } from "../dist/index.js";
import { splitWords, WordPiece } from "../dist/minilm.js";
import { randomOf } from "./kernels.mjs";

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
    "controls, format signs, private signs, U+FFFD and half a surrogate pair are removed without ending a word",
    [
      ["a\0b\x07c\x7fd\x0be\x0cf\u0085g\uFFFDh", ["abcdefgh"]],
      ["a\u200Bb\u200Dc\uFEFFd\u00ADe\u202Ef", ["abcdef"]],
      ["a\uE000b\uF8FFc\u{F0000}d\u{10FFFD}e", ["abcde"]],
      ["a\u180Eb", ["ab"]], // formerly a space, now Cf
      ["a\uD800b\uDC00c", ["abc"]],
    ],
  ],
  [
    "a CJK ideograph is a word, kana and Hangul are not split",
    [
      ["a\u6771\u4EACb", ["a", "\u6771", "\u4EAC", "b"]],
      ["\u{20000}\u{2A700}", ["\u{20000}", "\u{2A700}"]],
      ["\uF900", ["\u8C48"]], // a compatibility ideograph decomposes
      ["\u306F\u306E", ["\u306F\u306E"]],
      ["\uD55C", ["\u1112\u1161\u11AB"]], // a syllable decomposes
    ],
  ],
  [
    "accents are removed, compatibility forms are kept",
    [
      ["D\u00E9j\u00E0 e\u0301 \u00C5\u212B \u01D8", ["deja", "e", "aa", "u"]],
      ["\uFB01 \u2167 \u00BD \u00B2", ["\uFB01", "\u2177", "\u00BD", "\u00B2"]],
      ["\u093F", ["\u093F"]], // a spacing mark (Mc) is kept
      ["\u20DD", ["\u20DD"]], // an enclosing mark (Me) is kept
      ["\u0301\u0301", []], // a text of accents only has no word
    ],
  ],
  [
    "lower case is computed code point by code point",
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
      ["a\u20ACb\u00A9c", ["a\u20ACb\u00A9c"]], // other symbols are part of words
      ["[SEP]", ["[", "sep", "]"]], // plain text, not the special token
      ["a\u037Eb", ["a", ";", "b"]], // the Greek question mark decomposes
    ],
  ],
];
for (const [name, texts] of cases) {
  test(name, () => texts.forEach(([text, words]) => assert.deepEqual(splitWords(text), words, JSON.stringify(text))));
}

test("the remaining marks are in canonical order, and a starter ends a run of marks", () => {
  // U+1D165 (class 216) and U+302E (class 224) are marks that are not accents. They must be sorted by their combining
  // class. U+0334 (class 1) is an accent, and accents must be removed.
  assert.deepEqual(splitWords("a\u302E\u{1D165}"), ["a\u{1D165}\u302E"]);
  assert.deepEqual(splitWords("a\u302E\u0334\u{1D165}"), ["a\u{1D165}\u302E"]);
  assert.deepEqual(splitWords("a\u302E\u0345\u{1D165}"), ["a\u{1D165}\u302E"]); // U+0345 has the highest class
  assert.deepEqual(splitWords("a\u302E\u0F73\u{1D165}"), ["a\u{1D165}\u302E"]); // decomposes into two accents
  assert.deepEqual(splitWords("a\u302E\u302F\u302E"), ["a\u302E\u302F\u302E"]); // equal classes keep their order
  assert.deepEqual(splitWords("a\u302Eb\u{1D165}"), ["a\u302Eb\u{1D165}"]);
  assert.deepEqual(splitWords("a\u302E\u034F\u{1D165}"), ["a\u302E\u{1D165}"]); // U+034F: class 0, an accent
  assert.deepEqual(splitWords("a\u302E\u0902\u{1D165}"), ["a\u302E\u{1D165}"]); // U+0902: class 0, an accent
  assert.deepEqual(splitWords("a\u302E \u{1D165}"), ["a\u302E", "\u{1D165}"]);
  assert.deepEqual(splitWords("a\u302E\u6771\u302F\u{1D165}"), ["a\u302E", "\u6771", "\u{1D165}\u302F"]);
  assert.deepEqual(splitWords("a\u302E"), ["a\u302E"]);
});

/**
 * Splits a text like splitWords, but applies each rule to the whole text before the next rule. The time is quadratic in
 * the length of a run of combining marks.
 */
const splitBySteps = (text) =>
  Array.from(
    text
      .replace(/[\u{FFFD}\p{Cf}\p{Co}\p{Cs}]|(?![\t\n\r])\p{Cc}/gu, "")
      .replace(/[\t\n\r\p{Z}]/gu, " ")
      .replace(/[\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\u{20000}-\u{2A6DF}\u{2F800}-\u{2FA1F}]/gu, " $& ")
      .normalize("NFD")
      .replace(/\p{Mn}/gu, ""),
    (character) => character.toLowerCase(),
  )
    .join("")
    .replace(/[!-/:-@[-`{-~\p{P}]/gu, " $& ")
    .split(" ")
    .filter((word) => word !== "");

test("the words of random texts follow the rules", () => {
  const random = randomOf(17);
  const pick = (list) => list[Math.floor(((random() + 1) / 2) * list.length)];
  const signs = [..."aZ\u00C9\u0130\u03A3\u1E9E \t\n\u2003.,\u037E\u3002\u6771\uF900\u{2F800}\uD55C\u200B\0\uFFFD"];
  const marks = [
    ..."\u0300\u0316\u0334\u0344\u0345\u034F\u0902\u0F73\u0F75\u0F81\u093F", // all marks before \u093F are accents
    ..."\u09CB\u20DD\u302A\u302E\u302F\u1B44\u{1D165}\u{1D16D}\u{16FF0}",
  ];
  let marked = 0;
  for (let i = 0; i < 20_000; ++i) {
    const text = Array.from({ length: 12 }, () => (random() > 0.3 ? pick(signs) : pick(marks))).join("");
    const words = splitBySteps(text);
    assert.deepEqual(splitWords(text), words, JSON.stringify(text));
    if (/[\u302E\u{1D165}].*[\u302E\u{1D165}]/u.test(words.join(" "))) ++marked;
  }
  assert.ok(marked > 1000, `${marked} texts with several remaining marks`);
});

test("a text of combining marks takes time in proportion to its length", () => {
  const tokenizer = new WordPiece("[UNK]\n[CLS]\n[SEP]\na\n##a\n");
  // Marks in descending order of their combining classes are the worst case of a sort that swaps neighbours. The first
  // text has only accents, which are removed before the sort. The other texts have marks that must be sorted.
  for (const [high, low, pieces] of [
    ["\u0316", "\u0334", ["[CLS]", "a", "[SEP]"]],
    ["\u302E", "\u{16FF0}", ["[CLS]", "[UNK]", "[SEP]"]],
    ["\u302E\u0300", "\u{16FF0}\u0300", ["[CLS]", "[UNK]", "[SEP]"]],
  ]) {
    const text = `a${high.repeat(150_000)}${low.repeat(150_000)}`;
    const start = performance.now();
    assert.deepEqual(piecesOf(tokenizer, text), pieces);
    const time = performance.now() - start;
    assert.ok(time < 5000, `${time} ms`);
  }
});

test("a text is read only up to its last used token", () => {
  const tokenizer = new WordPiece("[UNK]\n[CLS]\n[SEP]\na\n##a\n");
  const timeOf = (repeats) => {
    const text = "a ".repeat(repeats);
    const start = performance.now();
    for (let i = 0; i < 20; ++i) assert.equal(tokenizer.encode(text, 8).length, 8);
    return performance.now() - start;
  };
  timeOf(1000);
  const [short, long] = [timeOf(1000), timeOf(5e6)];
  assert.ok(long < 50 * short + 50, `${long} ms for 10 MB, ${short} ms for 2 KB`);
});

test("a word is split into the longest known pieces", () => {
  const tokenizer = new WordPiece(
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\nun\n##aff\n##able\n##a\nunaf\n##f\n.\n\u6771\n##\u00DF\ns\n",
  );
  assert.deepEqual(tokenizer.encode("", 256), [2, 3]);
  assert.deepEqual(piecesOf(tokenizer, "Unaffable."), ["[CLS]", "unaf", "##f", "##able", ".", "[SEP]"]);
  assert.deepEqual(piecesOf(tokenizer, "unaffx s"), ["[CLS]", "[UNK]", "s", "[SEP]"]);
  assert.deepEqual(piecesOf(tokenizer, "aff"), ["[CLS]", "[UNK]", "[SEP]"]);
  assert.deepEqual(piecesOf(tokenizer, "s\u00DF\u6771"), ["[CLS]", "s", "##\u00DF", "\u6771", "[SEP]"]);
  // In the vocabulary, "##" marks a piece that continues a word. A "##" in a text must not have this meaning: its two
  // characters are separate words.
  assert.deepEqual(piecesOf(tokenizer, "##able"), ["[CLS]", "[UNK]", "[UNK]", "[UNK]", "[SEP]"]);
});

test("a word of more than 100 code points is unknown", () => {
  const tokenizer = new WordPiece("[UNK]\n[CLS]\n[SEP]\na\n##a\n\u{10437}\n##\u{10437}\n");
  assert.equal(tokenizer.encode("a".repeat(100), 256).length, 102);
  assert.deepEqual(tokenizer.encode("a".repeat(101), 256), [1, 0, 2]);
  assert.equal(tokenizer.encode("\u{10437}".repeat(100), 256).length, 102); // 200 UTF-16 code units
  assert.deepEqual(tokenizer.encode(`${"\u{10437}".repeat(100)}a`, 256), [1, 0, 2]);
});

test("a long text is truncated before [SEP]", () => {
  const tokenizer = new WordPiece("[UNK]\n[CLS]\n[SEP]\na\n##a\n");
  assert.deepEqual(piecesOf(tokenizer, "a a a a a", 5), ["[CLS]", "a", "a", "a", "[SEP]"]);
  assert.deepEqual(piecesOf(tokenizer, "a aaaa", 5), ["[CLS]", "a", "a", "##a", "[SEP]"]);
  assert.deepEqual(piecesOf(tokenizer, "a", 2), ["[CLS]", "[SEP]"]);
  const ids = tokenizer.encode("a ".repeat(1000), 256);
  assert.equal(ids.length, 256);
  assert.equal(ids.at(-1), 2);
});

test("vocabularies with Windows line ends, or without an end, are read; an invalid vocabulary is refused", () => {
  const tokenizer = new WordPiece("[UNK]\r\n[CLS]\r\n[SEP]\r\na");
  assert.equal(tokenizer.pieces.length, 4);
  assert.deepEqual(tokenizer.encode("a", 256), [1, 3, 2]);
  assert.throws(
    () => new WordPiece("[UNK]\n[CLS]\n"),
    (error) => error instanceof LadonError && error.code === "weights" && error.message.includes("[SEP]"),
  );
});
