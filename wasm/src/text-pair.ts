// SPDX-License-Identifier: Apache-2.0
// Joins the ids of two texts, as the post-processor in tokenizer.json says. The result is that of Hugging Face's crate
// tokenizers, in which the second text may be empty. @huggingface/tokenizers 0.2.0 gives other types for RoBERTa, and no
// second text for a post-processor such as that of GPT-2.
import { fail } from "./fail.js";

/** A pair of texts: the ids of all tokens, and a type for each, such as 0 for the first text and 1 for the second. */
export interface EncodedPair {
  readonly ids: number[];
  readonly types: number[];
}

/** A run of ids of one type. Special tokens stand around the texts. */
interface Part {
  readonly ids: readonly number[];
  readonly type: number;
  readonly isSpecial?: boolean;
}
type Texts = Readonly<Record<"A" | "B", readonly number[]>>;

const special = (ids: readonly number[], type: number): Part => ({ ids, type, isSpecial: true });

const partOfTemplate = ({ SpecialToken, Sequence }: any, { special_tokens }: any, texts: Texts): Part =>
  SpecialToken
    ? special(special_tokens[SpecialToken.id].ids, SpecialToken.type_id)
    : { ids: texts[Sequence.id as "A" | "B"], type: Sequence.type_id };

/** Returns the post-processors that add tokens. A ByteLevel changes only the places of tokens in the text. */
const addersIn = (processor: any): any[] => {
  if (processor?.type === "Sequence") return processor.processors.flatMap(addersIn);
  return processor && processor.type !== "ByteLevel" ? [processor] : [];
};

const partsOf = (processor: any, texts: Texts): Part[] => {
  const { cls, sep } = processor ?? {};
  switch (processor?.type) {
    case undefined:
      return [{ ids: texts.A, type: 0 }, { ids: texts.B, type: 1 }];
    case "TemplateProcessing":
      return processor.pair.map((item: any) => partOfTemplate(item, processor, texts));
    case "BertProcessing":
      return [special([cls[1]], 0), { ids: texts.A, type: 0 }, special([sep[1]], 0), { ids: texts.B, type: 1 }, special([sep[1]], 1)];
    case "RobertaProcessing": // RoBERTa has one type
      return [special([cls[1]], 0), { ids: texts.A, type: 0 }, special([sep[1], sep[1]], 0), { ids: texts.B, type: 0 }, special([sep[1]], 0)];
    default:
      return fail("option", "post_processor of a pair", "template, BERT, RoBERTa or ByteLevel", processor.type);
  }
};

/** `postProcessor` is that of tokenizer.json, or null. `texts` are the ids without special tokens. */
export const joinPair = (postProcessor: unknown, texts: Texts, withSpecial: boolean): EncodedPair => {
  const adders = addersIn(postProcessor);
  if (adders.length > 1) fail("option", "post_processor of a pair", "one that adds tokens", adders.length);
  const parts = partsOf(adders[0], texts).filter(({ isSpecial }) => withSpecial || !isSpecial);
  return { ids: parts.flatMap(({ ids }) => ids), types: parts.flatMap(({ ids, type }) => ids.map(() => type)) };
};
