// Like headers.c, in C++.
extern int a, b, c, i, k, L, n, q, s, v, x, y, align, attention, bytes, cache, count, keys, length, mask, memory,
    options, out, phase, queries, shares, share, size, status, text, threads, token, tokens, weights, workspace;

#include "decoder.h"
#include "given.h"
#include "layers.h"

const char* text_of(ladon_status code);
const char* text_of(ladon_status code) { return ladon_status_text(code); }
