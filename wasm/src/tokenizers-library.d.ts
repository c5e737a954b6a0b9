// SPDX-License-Identifier: Apache-2.0
// Declares what tokenizer.ts uses of the library @huggingface/tokenizers. Under nodenext, TypeScript rejects the
// library's own types, because their imports lack file extensions.
export class Tokenizer {
  constructor(tokenizer: object, config: object);
  encode(
    text: string,
    options: { add_special_tokens: boolean; text_pair?: string; return_token_type_ids?: boolean },
  ): { ids: number[]; token_type_ids?: number[] };
  decode(ids: number[], options: { skip_special_tokens: boolean }): string;
  id_to_token(id: number): string | undefined;
}
