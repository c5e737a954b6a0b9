/* Calls begin() and step() of docs/c-api.md, which translate a text, until the cache is full. All weights are 0.01. */
#include <stdio.h>
#include <string.h>

#include "translator.h"

ladon_status begin(const translator_weights* weights, const float* encoded, size_t length);
ladon_status step(const translator_weights* weights, float token[TRANSLATOR_MODEL]);

static float tensor[3 * TRANSLATOR_MODEL * TRANSLATOR_FEED_FORWARD], encoded[7 * TRANSLATOR_MODEL];
static const float* tensors[sizeof(translator_weights) / sizeof(const float*)];

int main(void) {
  translator_weights weights;
  float token[TRANSLATOR_MODEL] = {1};
  size_t i, tokens = 0;
  ladon_status status;
  for (i = 0; i < sizeof(tensor) / sizeof(tensor[0]); ++i) tensor[i] = 0.01f;
  for (i = 0; i < sizeof(tensors) / sizeof(tensors[0]); ++i) tensors[i] = tensor;
  memcpy(&weights, tensors, sizeof(weights));
  status = begin(&weights, encoded, 7);
  if (status != LADON_OK) {
    puts(ladon_status_text(status));
    return 1;
  }
  for (status = step(&weights, token); status == LADON_OK; status = step(&weights, token)) ++tokens;
  printf("%s, %u tokens\n", status == LADON_CACHE_FULL ? "ok" : ladon_status_text(status), (unsigned)tokens);
  return status != LADON_CACHE_FULL;
}
