# Instructions of one call: AVX2 with FMA, -O3.
set(instructions_compiler "GNU 12")
set(instructions_full_16_32_4 30218)
set(instructions_full_64_128_4 1463728)
set(instructions_full_128_384_12 23970635)
set(instructions_causal_64_128_4 1352637)
