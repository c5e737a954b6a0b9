// A program whose global variables have names of local variables in Ladon's headers.
extern int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z;
extern int A, B, C, D, E, F, G, H, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z;
extern int active, at, begin, bias, bits, block, cache, call, column, columns, count, data, end, factor, first, from,
    head, heads, in, inner, input, key, keys, lane, last, length, lengths, mask, maximum, memory, model, next, number,
    offset, options, out, output, panel, part, phase, queries, query, rest, result, row, rows, scale, scores, second,
    share, shared, size, status, steps, sum, sums, table, text, to, token, tokens, value, values, width, weight,
    weights, workspace;
extern int blend, copy_sign, maximum, minimum, reduce_add, reduce_max, opaque, slopes;

#include "all_classes.hpp"

#if defined(LADON_PROGRAM_STANDARD) && __cplusplus < LADON_PROGRAM_STANDARD
#error "the compiler does not use the standard of the flag"
#endif
