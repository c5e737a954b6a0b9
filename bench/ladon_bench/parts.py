"""The parts of `./dev bench all`. A new part needs an entry here, and a pair of markers in bench/results.md."""

import dataclasses
from collections.abc import Callable

from ladon_bench import tables
from ladon_bench.shapes import texts

QUICK = ["--shapes", *texts("quick")]
QUICK_PEERS_INT8 = [*QUICK, "--rounds", "7", "--patience", "5", "--masks", "full"]
QUICK_PEERS = [*QUICK_PEERS_INT8, "--kinds", "attention"]
QUICK_MINILM = ["--tokens", "8", "32", "--sentences", "8", "--rounds", "7", "--patience", "5"]


@dataclasses.dataclass(frozen=True)
class Part:
    name: str  # of figures/NAME.json, and of the markers <!-- figures: NAME --> in bench/results.md
    command: list[str]  # the arguments of ./dev, without the option for the file of figures
    quick: list[str]  # the arguments that --quick adds
    table: Callable[[dict], str]  # makes Markdown from {name of a part: figures}
    always: bool = True  # if False, the part runs only with the option --NAME
    waits: bool = False  # True if the command has the option --patience
    output: str = "json"  # or markdown or text, if the command writes no JSON; the text is stored in a JSON file
    pictures: dict[str, str] = dataclasses.field(default_factory=dict)  # {name of charts/NAME.svg: its description}


PARTS = [
    Part("native", ["bench"], ["--benchmark_filter=16,32,4|64,128,4|128,384,12/(full|causal)|512,256,8"],
         tables.native("native")),
    Part("native_int8", ["bench", "--precision", "int8"],
         ["--benchmark_filter=16,32,4|64,128,4|128,384,12|512,256,8"], tables.native("native_int8")),
    Part("native_bfloat16", ["bench", "--precision", "bfloat16"],
         ["--benchmark_filter=16,32,4|64,128,4|128,384,12|512,256,8"], tables.native("native_bfloat16")),
    Part("memory", ["bench", "memory"], [], tables.memory,
         pictures={"memory": "Bytes over tokens and over the model's width"}),
    Part("ceilings", ["bench", "ceilings"], ["--seconds", "2"], tables.ceilings,
         pictures={"roofline": "GFLOP/s over flops a byte: attention below the ceilings of this core"}),
    Part("threads", ["bench", "threads"], [], tables.threads,
         pictures={"threads": "How many times as fast two threads are, by shape"}),
    Part("decode", ["bench", "decode"], ["--rounds", "9"], tables.decode("decode")),
    Part("decode_int8", ["bench", "decode", "--precision", "int8"], ["--rounds", "9"], tables.decode("decode_int8")),
    Part("decode_bfloat16", ["bench", "decode", "--precision", "bfloat16"], ["--rounds", "9"],
         tables.decode("decode_bfloat16")),
    Part("start", ["bench", "start"], ["--rounds", "3"], tables.start,
         pictures={"start": "Milliseconds from a process's start to the first result"}),
    Part("peers", ["bench", "peers"],
         QUICK_PEERS, tables.peers("peers"), waits=True,
         pictures={"times_as_fast": "Ladon, times as fast as other libraries, by shape",
                   "share_of_peak": "Share of the FMA peak of all libraries"}),
    Part("peers_threads", ["bench", "peers", "--threads", "2"],
         QUICK_PEERS, tables.peers("peers_threads"), waits=True,
         pictures={"times_as_fast_2_threads": "Ladon, times as fast as other libraries, all with two threads",
                   "share_of_peak_2_threads": "Share of two cores' FMA peak of all libraries"}),
    Part("peers_int8", ["bench", "peers", "--precision", "int8"],
         QUICK_PEERS_INT8, tables.peers("peers_int8"), waits=True),
    Part("scaling", ["bench", "peers", "--scaling"],
         ["--shapes", *texts("quick_scaling"), "--rounds", "7", "--patience", "5", "--masks", "full"],
         tables.scaling, waits=True,
         pictures={"scaling": "Microseconds a token over tokens and over the model's width"}),
    Part("minilm", ["bench", "minilm"],
         QUICK_MINILM, tables.minilm("minilm"), waits=True,
         pictures={"minilm": "Microseconds a token, and speed beside the fastest library, by tokens"}),
    Part("minilm_int8", ["bench", "minilm", "--precision", "int8"],
         QUICK_MINILM, tables.minilm("minilm_int8"), waits=True),
    Part("minilm_bfloat16", ["bench", "minilm", "--precision", "bfloat16"],
         QUICK_MINILM, tables.minilm("minilm_bfloat16"), waits=True),
    # The figures of other machines than those of the parts without the name of a processor.
    Part("peers_zen5", ["bench", "peers"], QUICK_PEERS, tables.peers("peers_zen5"), waits=True, always=False),
    Part("peers_int8_zen4", ["bench", "peers", "--precision", "int8"],
         QUICK_PEERS_INT8, tables.peers("peers_int8_zen4"), waits=True, always=False),
    Part("minilm_zen5", ["bench", "minilm"], QUICK_MINILM, tables.minilm("minilm_zen5"), waits=True, always=False),
    Part("minilm_int8_zen4", ["bench", "minilm", "--precision", "int8"],
         QUICK_MINILM, tables.minilm("minilm_int8_zen4"), waits=True, always=False),
    Part("minilm_bfloat16_zen4", ["bench", "minilm", "--precision", "bfloat16"],
         QUICK_MINILM, tables.minilm("minilm_bfloat16_zen4"), waits=True, always=False),
    # For machines without AVX-512.
    Part("minilm_int8_avx2", ["bench", "minilm", "--precision", "int8", "--activation-bits", "7"],
         QUICK_MINILM, tables.minilm("minilm_int8_avx2"), waits=True, always=False),
    Part("llama", ["bench", "llama"], ["--rounds", "5", "--patience", "5"], tables.llama, waits=True),
    Part("keywords", ["bench", "keywords"], ["--rounds", "7", "--patience", "5"], tables.keywords, waits=True),
    Part("browser", ["bench", "browser"], ["--shapes", *texts("quick_browser"), "--rounds", "5"],
         tables.browser, always=False, output="markdown"),
    Part("browser_minilm", ["bench", "browser", "--minilm"], ["--tokens", "8", "--rounds", "5"],
         tables.markdown("browser_minilm"), always=False, output="markdown"),
    Part("browser_int8", ["bench", "browser", "--precision", "int8"],
         ["--shapes", *texts("quick_browser"), "--rounds", "5"], tables.markdown("browser_int8"), always=False,
         output="markdown"),
    Part("browser_minilm_int8", ["bench", "browser", "--minilm", "--precision", "int8"],
         ["--tokens", "8", "--rounds", "5"], tables.markdown("browser_minilm_int8"), always=False, output="markdown"),
    Part("browser_keywords", ["bench", "browser", "--keywords"], ["--rounds", "5"], tables.markdown("browser_keywords"),
         always=False, output="markdown"),
    Part("firmware", ["bench", "firmware"], [], tables.firmware, always=False, output="text"),
]
