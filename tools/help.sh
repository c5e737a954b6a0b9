# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Implements ./dev help.

# usage [COMMAND]: prints all commands, or the options of a command.
usage() {
  if [ $# -gt 0 ]; then
    usage_of "$1"
    return
  fi
  cat <<'END'
./dev demo [TEXT]              read some dates, or the date in TEXT
./dev run NAME [ARGS...]       build and run an example: hello, date_reader, minilm, stories, keywords
./dev page [PORT]              serve the demo page to this machine (8080)
./dev firmware [NAME]          the date reader or the keyword spotter on boards in QEMU
./dev import FOLDER --cpp DIR  a model of Hugging Face as a C++ program; --c DIR: a C library; --wasm DIR: a web page;
                               --firmware DIR --cpu CORE: firmware; --dry-run: its parts; --check: compare results
./dev test [ARGS...]           build and run the tests for this machine; --all, --preset NAME, --platform NAME, --firmware,
                               --package, --browsers, --modules, --integrations, --recipes, --release: other tests
./dev families FOLDER...       compare models of transformer families with recorded results
./dev fuzz [TARGET] [SECONDS]  run the fuzzers
./dev bench [NAME] [ARGS...]   share of the FMA peak; NAME: all, compare, peers, minilm, keywords, llama, browser,
                               firmware, decode, threads, memory, ceilings, surroundings, start, charts
./dev footprint                bytes of code, constants, stack and workspace of kernels
./dev wasm                     build the npm package in wasm/dist
./dev docs [FOLDER]            build the site of the documents
./dev release [FOLDER]         make the files of a release
./dev amalgamate [FILE]        write all headers into one
./dev format [--check]         clang-format over all sources
./dev tidy                     clang-tidy, shellcheck and ruff
./dev help [COMMAND]           print this text, or the options of a command, such as ./dev help test

Each command first installs missing packages with apt, as root or with sudo. The second run needs neither root nor network.
CXX selects the compiler. Builds are in build/, or in ~/.cache/ladon if the checkout is read-only.
END
}

# usage_of COMMAND: prints the lines about a command: those that begin with its name, and the indented lines behind them.
usage_of() {
  details | awk -v name="$1" '$1 == "./dev" { found = $2 == name } found { print; any = 1 } END { exit !any }' ||
    die "unknown command '$1': ./dev help lists the commands"
}

details() {
  cat <<'END'
./dev demo [TEXT]              read some dates, or the date in TEXT; --svg FILE draws the attention weights
./dev run NAME [ARGS...]       build and run an example: hello, date_reader, minilm, stories, keywords
./dev test [ARGS...]           build and run the tests for this machine; ctest's options select tests, such as -R REGEX
./dev test --all               test every path: g++, clang++, sanitizers, SSE2, AVX2, AVX-512, VNNI, plain arrays of 1, 4
                               and 16 lanes, 64-bit and 32-bit Arm, RISC-V, IBM Z, Windows, Cortex-M, three kinds of
                               WebAssembly in Node and Chromium
./dev test --preset NAME       test one of these paths (CMakePresets.json); --set quick|usual|wide|slow selects the size
                               of the test set, --xsimd FOLDER uses the copy of xsimd in FOLDER
./dev test --platform NAME     test a platform with a cross compiler in QEMU or Wine: windows, windows-win32, armv7,
                               armv7-vfp, armv6, armel, riscv64, riscv64-v, s390x, ppc64, ppc64le, aarch64-sve,
                               i386, musl, musl-aarch64, musl-armv7, musl-loongarch64, and (compiled, not run)
                               macos, macos-x86_64, ios (the table is tools/platforms/table);
                               --brief runs the tests that CI runs, --record updates docs/platforms.md
./dev test --modules           test the contents of WebAssembly modules, and their results in Node
./dev test --integrations      test PlatformIO, Arduino, Zephyr and ESP-IDF, with all their tools that pip or apt has
./dev test --recipes           test the recipes of docs/pytorch.md with the real exporters: PyTorch, transformers, Keras
                               and onnx (several GB from pip). Without --recipes, the tests use stored files
./dev test --firmware [CORE...]  test microcontrollers in QEMU: Cortex-M0+, M4, M7, M33, M55 and RISC-V, or only CORE...;
                               --update rewrites the expected instruction counts
./dev test --package           test the npm package: in Node, Deno and Bun, from its tarball in new projects, with
                               bundlers, in Chromium, and in Node for 64-bit Arm (QEMU)
./dev test --browsers [quick] [BROWSER...]  test the package and every tab of the page in chromium, firefox and webkit
                               (WebKitGTK), or only in BROWSER...; quick: the benchmark measures one shape
./dev test --release           make the files of a release twice and compare them, and test the Conan recipe. After
                               --package, this compiles nothing
./dev families FOLDER...       compare models of transformer families with recorded hidden states (tests/families/README.md);
                               --docs also writes docs/families.md
./dev import FOLDER --cpp DIR  write a C++ program that computes a model of Hugging Face's transformers (docs/import.md);
                               --dry-run prints the model's parts and memory, --check [IO.safetensors] builds the program and
                               compares it with recorded results; --check-all [--docs] FOLDER... does so for many;
                               --c DIR builds a C library of the model, --firmware DIR --cpu CORE for a microcontroller;
                               --wasm DIR makes WebAssembly modules, a weights file, a typed wrapper and a page
./dev fuzz [TARGET] [SECONDS]  run all fuzzers, or only TARGET, for 20 or SECONDS seconds each (clang++ and libFuzzer)
./dev bench [ARGS...]          share of the FMA peak; --precision int8: with int8 weights, relative to the float32 and
                               int8 peaks; --json FILE writes the figures, --rounds N (31),
                               --patience SECONDS limits the wait for a quiet core (20; 0: no wait),
                               --benchmark_filter=REGEX selects cases, --shape 16,32,4 builds and runs one shape
./dev bench compare REVISION   compare REVISION with the work tree, alternating on one core: both shares of peak and the
                               ratio of each row; --isa NAME, --rounds N, --filter REGEX, --core N, --json FILE
./dev bench all [ARGS...]      run all benchmarks below, but browser and firmware only with --browser, --browser_minilm,
                               --browser_keywords and --firmware. Writes bench/figures, bench/charts and the tables of
                               bench/results.md and README.md; --quick runs fewer rounds and shapes, --patience
                               SECONDS, --only NAME ..., --tables only rewrites the tables, --check compares the tables
                               with bench/figures
./dev bench threads [COUNT]    speed-up of one call by COUNT threads (2); --json FILE
./dev bench decode [ARGS...]   speed of decoding one token at a time, relative to a plain read of the same bytes;
                               --json FILE, --only TEXT, --rounds N
./dev bench memory, ceilings   memory: workspace of shapes, and the size of full score matrices. ceilings: peak rates of
                               a core and its caches. --json FILE
./dev bench surroundings       attention in four surroundings: the speed of the slowest beside the fastest
./dev bench start [ARGS...]    time from the start of a process to its first result, beside other libraries; --rounds N,
                               --json FILE
./dev bench peers [ARGS...]    Ladon beside oneDNN, ONNX Runtime, OpenVINO, LiteRT, JAX and IREE (1.6 GB from pip), all
                               on one core: --rounds N, --shapes 64,128,4 ..., --masks causal, --peers NAME ...,
                               --threads N uses N cores, --patience SECONDS limits the repetition of disturbed rounds,
                               --json FILE, --markdown FILE; --with-torch also installs PyTorch (several GB);
                               --scaling measures how the cost grows with tokens and width;
                               --precision int8: int8 weights, beside ONNX Runtime, OpenVINO and LiteRT
./dev bench minilm [ARGS...]   all-MiniLM-L6-v2 from token ids to a vector, beside ONNX Runtime, OpenVINO and LiteRT:
                               --rounds N, --tokens 8 ..., --sentences 32 ..., --json FILE, --markdown FILE;
                               --with-torch; --precision int8, or bfloat16 beside OpenVINO's bfloat16;
                               --activation-bits 7: the inputs of Ladon's int8 products
./dev bench keywords [ARGS...]  the keyword spotting model KWT-1, from a second of sound to logits and from features to
                               logits, float32 and int8, beside LiteRT: --rounds N, --parts chain, --patience SECONDS,
                               --json FILE, --markdown FILE
./dev bench llama [ARGS...]    a language model with the sizes of SmolLM2-135M, weights of 8 and 4 bits, beside llama.cpp,
                               which pip compiles: prompts, and tokens behind 128 and 1024; --weights 8, --rounds N,
                               --patience SECONDS, --json FILE, --markdown FILE
./dev bench charts FILE...     draw the JSON files of benchmarks into bench/charts; --markdown prints tables of peers
./dev bench firmware [CORE...]  instructions per multiply-add on Cortex-M4, M7 and M55, in QEMU. If LADON_CMSIS_DSP_DIR
                               names a copy of CMSIS-DSP, also its instructions; --precision int8: with int8 weights
./dev bench browser [ARGS...]  WebAssembly modules in Chromium, beside ONNX Runtime Web and TensorFlow.js; --node also
                               measures in Node; --json FILE, --markdown FILE, --rounds N, --shapes 64,128,4 ...
./dev bench browser --engines [--turns N]  kernels of the package in Chromium, Firefox and WebKitGTK, each beside its ceiling
./dev bench browser --minilm [ARGS...]  MiniLM from a text to its vector, beside transformers.js; --tokens 8 11 ...,
                               --starts N measures N starts, from a new page to the first vector
./dev bench browser --keywords [ARGS...]  KWT-1 from a second of sound to logits, and from features to logits, float32 and
                               int8, beside LiteRT.js; --parts chain, --precision int8, --rounds N, --node
./dev bench browser --precision int8 [--minilm] [ARGS...]  int8 weights beside float32: products, also those of ONNX
                               Runtime Web and LiteRT.js, and attention; with --minilm, MiniLM beside q8 models, and the
                               cosines to float32
./dev footprint                bytes of code, constants, stack and workspace of kernels, by shape and instruction set
./dev wasm                     build the npm package in wasm/dist: WebAssembly modules and the binding, with their sizes
./dev firmware [date_reader] [--precision int8] [FILE [MOST]]
                               the date reader on Cortex-M4, M7 and M55 in QEMU: dates, instructions, flash and RAM
./dev firmware keywords [--precision int8] [FILE.wav...]
                               the keyword spotter on these cores: words, instructions, flash and RAM
./dev page [PORT]              build the demo page that shows attention weights, and serve it to this machine (8080)
./dev docs [FOLDER]            build a site with the documents and the reference of all headers, in build/docs/site or
                               FOLDER; a dead link is an error (Doxygen from apt, MkDocs from pip)
./dev release [FOLDER]         make the files of a release, in build/release or FOLDER: single header, source archive, npm
                               tarball, Arduino library, SBOM (SPDX) and checksums. LADON_URL names the project's page
./dev amalgamate [FILE]        write all headers into one: FILE, or ladon.hpp in the build folder
./dev format [--check]         clang-format over all sources
./dev tidy                     clang-tidy over include/ and src/, shellcheck and ruff
END
}
