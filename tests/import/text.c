/* Writes a text with the C functions of a model, several times and in poisoned memory. TEXT_PROMPT and TEXT_TOKENS are
 * the ids of the prompt, and of the tokens that transformers chose. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "c_text_llama.h"

#define CHECK(condition)                                      \
  do {                                                        \
    if (!(condition)) {                                       \
      printf("line %d: %s is wrong\n", __LINE__, #condition); \
      return 1;                                               \
    }                                                         \
  } while (0)

static const int32_t prompt[] = {TEXT_PROMPT}, expected[] = {TEXT_TOKENS};
enum { prompt_tokens = sizeof prompt / sizeof *prompt, tokens = sizeof expected / sizeof *expected };

/* The first piece of the prompt has `piece` tokens; with 0, the prompt is read at once. */
static int write_text(void* text, size_t piece) {
  int32_t next = -2;
  memset(text, 0xff, c_text_llama_text_bytes()); /* every float is NaN */
  if (piece == 0) {
    CHECK(c_text_llama_text_start(prompt, prompt_tokens, NULL, &next, text, NULL) == LADON_MODEL_OK);
  } else {
    CHECK(c_text_llama_text_begin(NULL, text, NULL) == LADON_MODEL_OK);
    CHECK(c_text_llama_text_prompt(prompt, piece, 0, &next, text, NULL) == LADON_MODEL_OK && next == -1);
    CHECK(c_text_llama_text_prompt(prompt + piece, prompt_tokens - piece, 1, &next, text, NULL) == LADON_MODEL_OK);
  }
  for (int i = 0; i < tokens; ++i) {
    const float* logits = c_text_llama_text_logits(text);
    CHECK(next == expected[i]);
    for (int j = 0; j < C_TEXT_LLAMA_VOCABULARY; ++j) CHECK(logits[j] <= logits[next]);
    CHECK(c_text_llama_text_next(next, &next, text, NULL) == LADON_MODEL_OK);
  }
  CHECK(c_text_llama_text_next(C_TEXT_LLAMA_VOCABULARY, &next, text, NULL) == LADON_MODEL_BAD_ID && next == -1);
  for (int i = prompt_tokens + tokens; i < C_TEXT_LLAMA_MOST_TEXT_TOKENS; ++i)
    CHECK(c_text_llama_text_next(1, &next, text, NULL) == LADON_MODEL_OK);
  CHECK(c_text_llama_text_next(1, &next, text, NULL) == LADON_MODEL_FULL && next == -1);
  return 0;
}

int main(void) {
  const size_t bytes = (c_text_llama_text_bytes() + 63) / 64 * 64;
  char* text = aligned_alloc(64, bytes);
  const ladon_model_sampling random = {2, 0, 1, 5};
  int32_t next, other;
  CHECK(text != NULL);
  CHECK(c_text_llama_text_start(prompt, prompt_tokens, NULL, &next, text, NULL) == LADON_MODEL_NOT_STARTED);
  CHECK(c_text_llama_start(NULL, 0) == LADON_MODEL_OK);
  CHECK(c_text_llama_text_start(prompt, prompt_tokens, NULL, &next, NULL, NULL) == LADON_MODEL_NULL);
  CHECK(c_text_llama_text_start(prompt, prompt_tokens, NULL, &next, text + 4, NULL) == LADON_MODEL_MISALIGNED);
  CHECK(c_text_llama_text_start(prompt, 0, NULL, &next, text, NULL) == LADON_MODEL_BAD_LENGTH);
  CHECK(c_text_llama_text_ends(2) == 1 && c_text_llama_text_ends(3) == 0); /* config.json has eos_token_id 2 */
  CHECK(c_text_llama_text_logits(NULL) == NULL);
  CHECK(c_text_llama_text_begin(NULL, NULL, NULL) == LADON_MODEL_NULL);
  CHECK(c_text_llama_text_begin(NULL, text + 4, NULL) == LADON_MODEL_MISALIGNED);
  CHECK(c_text_llama_text_prompt(NULL, 1, 0, &next, text, NULL) == LADON_MODEL_NULL);
  for (size_t piece = 0; piece < prompt_tokens; ++piece)
    if (write_text(text, piece) != 0) return 1;
  CHECK(c_text_llama_text_start(prompt, prompt_tokens, &random, &next, text, NULL) == LADON_MODEL_OK);
  CHECK(c_text_llama_text_start(prompt, prompt_tokens, &random, &other, text, NULL) == LADON_MODEL_OK && other == next);
  free(text);
  printf("%d tokens: ok\n", tokens);
  return 0;
}
