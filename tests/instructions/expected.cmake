# Instructions of one call: AVX2 with FMA, -O3.
set(instructions_compiler "GNU 12")
set(instructions_full_16_32_4 28462)
set(instructions_full_64_128_4 1353736)
set(instructions_full_128_384_12 22289227)
set(instructions_causal_64_128_4 1248289)
