/*
 * start FILE OUTPUT: maps in_proj_weight, in_proj_bias, out_proj_weight, out_proj_bias and x from FILE, and computes
 * attention once. Writes the result to OUTPUT. Prints when the program started and when each step ended, as seconds of
 * the system's monotonic clock. first.py prints the times of the other packages in this format.
 */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include KERNEL_HEADER

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define NAMED(part) JOIN(KERNEL, part)
#define SIZE(part) JOIN(KERNEL_UPPER, part)

enum { tokens = SIZE(_QUERIES), model = SIZE(_MODEL) };

static _Alignas(SIZE(_WORKSPACE_ALIGN)) unsigned char workspace[SIZE(_WORKSPACE_BYTES)];
static float y[tokens * model];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static const float* mapped(const char* path) {
  struct stat file;
  const int descriptor = open(path, O_RDONLY);
  if (descriptor < 0 || fstat(descriptor, &file) != 0) return NULL;
  const size_t wanted = sizeof(float) * (4 * model * model + 4 * model + tokens * model);
  if ((size_t)file.st_size != wanted) return NULL;
  const void* at = mmap(NULL, wanted, PROT_READ, MAP_PRIVATE, descriptor, 0);
  return at == MAP_FAILED ? NULL : at;
}

int main(int argc, char** argv) {
  const double started = now();
  const float* numbers = argc == 3 ? mapped(argv[1]) : NULL;
  if (numbers == NULL) {
    fprintf(stderr, "start FILE OUTPUT: FILE has the numbers of (%d,%d)\n", tokens, model);
    return 2;
  }
  const NAMED(_weights) weights = {.in_proj_weight = numbers,
                                   .in_proj_bias = numbers + 3 * model * model,
                                   .out_proj_weight = numbers + 3 * model * (model + 1),
                                   .out_proj_bias = numbers + 4 * model * model + 3 * model};
  const double loaded = now();
  const ladon_status status = NAMED(_run)(numbers + 4 * model * (model + 1), &weights, y, workspace);
  const double first = now();
  if (status != LADON_OK) {
    fprintf(stderr, "start: %s\n", ladon_status_text(status));
    return 1;
  }
  printf("{\"started\": %.9f, \"imported\": %.9f, \"loaded\": %.9f, \"first\": %.9f}\n", started, started, loaded,
         first);
  FILE* output = fopen(argv[2], "wb");
  if (output == NULL || fwrite(y, sizeof y, 1, output) != 1 || fclose(output) != 0) return 1;
  return 0;
}
