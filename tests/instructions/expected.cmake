# Sets the expected number of instructions of one call of each kernel. The kernels are compiled for AVX2 with FMA and
# -O3.
set(instructions_compiler "GNU 12")
set(instructions_full_16_32_4 28158)
set(instructions_full_64_128_4 1343144)
set(instructions_full_128_384_12 22171147)
set(instructions_causal_64_128_4 1241105)
set(instructions_few_queries 155155)
set(instructions_few_5_of_64 161955)
set(instructions_few_21_of_64 455714)
set(instructions_rows_5_of_64 492951)
