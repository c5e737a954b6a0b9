#!/bin/bash -eu
# Builds the fuzzers of Ladon for OSS-Fuzz. OSS-Fuzz sets the variables below. CXXFLAGS contains the sanitizers and the
# level of optimisation.
: "${SRC:?}" "${OUT:?}" "${WORK:?}" "${CXX:?}" "${CXXFLAGS:?}" "${LIB_FUZZING_ENGINE:?}"

ladon=$SRC/ladon
cmake -S "$ladon" -B "$WORK/ladon" -G Ninja \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG= -DCMAKE_C_FLAGS_DEBUG= -DCMAKE_OBJCOPY="$(command -v objcopy)" \
  -DLADON_KISSFFT_DIR="$SRC/kissfft" -DFETCHCONTENT_SOURCE_DIR_SNDFILE="$SRC/libsndfile" -DFETCHCONTENT_SOURCE_DIR_SAMPLERATE="$SRC/libsamplerate" \
  -DLADON_ARCH=default -DLADON_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" \
  -DLADON_BUILD_FUZZERS=ON -DLADON_BUILD_TESTS=OFF -DLADON_BUILD_BENCH=OFF -DLADON_INSTALL=OFF
cmake --build "$WORK/ladon" --target ladon_fuzzers

for source in "$ladon"/fuzz/fuzz_*.cpp; do
  fuzzer=$(basename "$source" .cpp)
  target=${fuzzer#fuzz_}
  cp "$WORK/ladon/fuzz/$fuzzer" "$OUT/"
  zip -q -j "$OUT/${fuzzer}_seed_corpus.zip" "$ladon/fuzz/seeds/$target"/*
  if [ -e "$ladon/fuzz/$target.dict" ]; then cp "$ladon/fuzz/$target.dict" "$OUT/$fuzzer.dict"; fi
done
