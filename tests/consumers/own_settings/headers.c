/* A program whose global variables have names that are frequent in headers. */
extern int a, b, c, i, k, L, n, q, s, v, x, y, align, attention, bytes, cache, count, index_of, keys, length, mask,
    memory, options, out, phase, queries, shares, share, size, status, text, threads, token, tokens, weights, workspace;

#include "decoder.h"
#include "given.h"
#include "layers.h"

extern const char* text_of(int);
const char* text_of(int number) { return ladon_status_text((ladon_status)number); }
