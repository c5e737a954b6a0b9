# Instructions of one call: AVX2 with FMA, -O3.
set(instructions_compiler "GNU 12")
set(instructions_full_16_32_4 32650)
set(instructions_full_64_128_4 1479400)
set(instructions_full_128_384_12 23680307)
set(instructions_causal_64_128_4 1368500)
