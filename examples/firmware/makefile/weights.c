/* Defines weights for the example: small numbers that the compiler computes. `const` puts them into flash. In your
 * program, the tensors of a checkpoint replace these numbers. */
#include "attention.h"

#define NUMBER(i) ((float)((i) * 7 % 11 - 5) / 40)
#define NUMBERS_4(i) NUMBER(i), NUMBER((i) + 1), NUMBER((i) + 2), NUMBER((i) + 3)
#define NUMBERS_16(i) NUMBERS_4(i), NUMBERS_4((i) + 4), NUMBERS_4((i) + 8), NUMBERS_4((i) + 12)
#define NUMBERS_64(i) NUMBERS_16(i), NUMBERS_16((i) + 16), NUMBERS_16((i) + 32), NUMBERS_16((i) + 48)
#define NUMBERS_256(i) NUMBERS_64(i), NUMBERS_64((i) + 64), NUMBERS_64((i) + 128), NUMBERS_64((i) + 192)
#define NUMBERS_1024(i) NUMBERS_256(i), NUMBERS_256((i) + 256), NUMBERS_256((i) + 512), NUMBERS_256((i) + 768)
#define NUMBERS_4096(i) NUMBERS_1024(i), NUMBERS_1024((i) + 1024), NUMBERS_1024((i) + 2048), NUMBERS_1024((i) + 3072)

const float in_weight[] = {NUMBERS_4096(0), NUMBERS_4096(4096), NUMBERS_4096(8192)};
const float out_weight[] = {NUMBERS_4096(3)};
const float in_bias[] = {NUMBERS_64(0), NUMBERS_64(64), NUMBERS_64(128)};
const float out_bias[] = {NUMBERS_64(5)};
