"""Makes the tables of bench/results.md from the JSON files of `./dev bench all`. The function of a part takes
{name of a part: figures} and returns Markdown."""

from ladon_bench import figures, roofline
from ladon_bench.figures import shape_cells, table
from ladon_bench.keywords import tables as keywords_tables
from ladon_bench.llama import tables as llama_tables
from ladon_bench.minilm import tables as minilm_tables


def about(measured):
    """Returns the line above a table: date, machine, compiler and versions."""
    machine, run = measured.get("machine", {}), measured.get("run", {})
    versions = {name: version for row in measured.get("rows", []) if isinstance(row, dict)
                for name, version in row.get("versions", {}).items()} | machine.get("versions", {})
    parts = [run.get("date", "")[:10], machine.get("cpu", run.get("cpu")), run.get("system"),
             " ".join(filter(None, [machine.get("compiler"), machine.get("flags")])), machine.get("simd"),
             machine.get("target"), ", ".join(f"{name} {version}" for name, version in versions.items())]
    quick = "; a quick run, with fewer rounds and shapes" if run.get("quick") else ""
    return ", ".join(filter(None, parts)) + quick + "."


def percent(part):
    return f"{100 * part:.0f}"


def all_layers(native):
    return [{"kind": kind, **row} for key, kind in (("rows", "attention"), ("encoder_layers", "encoder_layer"))
            for row in native[key]]


def native(name):
    """Returns the function of the part `name`, whose figures have the form of `./dev bench --json`."""
    def of(known):
        rows = [[*shape_cells(row), f"{100 * row['share_of_peak']:.1f}",
                 f"{100 * row['lower_quartile']:.1f}, {100 * row['upper_quartile']:.1f}", f"{row['gflops']:.1f}",
                 f"{row['peak_gflops']:.1f}", percent(row["disturbed"])] for row in all_layers(known[name])]
        return table(["tokens, model, heads", "mask", "% of peak", "quartiles", "GFLOP/s", "peak", "disturbed, %"],
                     rows)
    return of


def decode(name):
    """Returns the function of the part `name`, whose figures have the form of `./dev bench decode --json`."""
    def of(known):
        rows = [[row["name"], f"{row['bytes'] * 1e-6:,.1f}",
                 f"{100 * row['share_of_read']:.1f} ({100 * row['lower_quartile']:.1f}, "
                 f"{100 * row['upper_quartile']:.1f})",
                 f"{100 * row['share_of_one_place']:.1f}", f"{row['read_gigabytes_a_second']:.1f}",
                 f"{1e6 * row['seconds_a_token']:,.1f}", percent(row["disturbed"])] for row in known[name]["rows"]]
        return table(["", "MB", "% of the ceiling (quartiles)", "% of the read of one region", "ceiling, GB/s",
                      "a token, us", "disturbed, %"], rows)
    return of


def kilobytes(count):
    return f"{count / 1024:,.0f}"


def memory(known):
    rows = [[f"{row['tokens']}, {row['model']}, {row['heads']}", kilobytes(row["workspace_bytes"]),
             kilobytes(row["scores_bytes"]), kilobytes(row["textbook_bytes"]),
             f"{row['textbook_bytes'] / row['workspace_bytes']:.1f}"] for row in known["memory"]["rows"]]
    return table(["tokens, model, heads", "workspace, KiB", "scores, KiB", "Q, K, V, scores, heads, KiB",
                  "Q, K, V, scores, heads / workspace"], rows)


def ceilings(known):
    measured = known["ceilings"]
    rows = [["multiply-adds in registers", f"{measured['flops_a_second'] * 1e-9:.1f} GFLOP/s"]]
    rows += [[f"reads from {one['level']}", f"{one['bytes_a_second'] * 1e-9:.1f} GB/s"] for one in measured["reads"]]
    rows += [["exponentials of the softmax", f"{measured['exponentials_a_second'] * 1e-9:.2f} G/s"]]
    rows += [[f"tiles of {one['rows']} x {one['packs']}, sums of {one['inner']}",
              f"{one['flops_a_second'] * 1e-9:.1f} GFLOP/s"] for one in measured["tiles"]
             if one["inner"] in (8, 32, 256)]
    parts = [table(["ceiling", "measured"], rows)]
    if "native" in known:
        parts.append(binding(known))
    return "\n\n".join(parts)


def binding(known):
    """Returns the table of the microseconds that each peak rate allows, for each shape of full attention."""
    rows = []
    for row in known["native"]["rows"]:
        if row["mask"] != "full":
            continue
        bound = roofline.bounds(known["ceilings"], row)
        rows.append([shape_cells({**row, "kind": "attention"})[0],
                     *(f"{1e6 * bound[name]:.1f}" for name in ("fma", "short tiles", "exponentials")),
                     f"{1e6 * bound['reading']:.1f} ({bound['level']})", f"{100 * bound['share']:.1f}",
                     f"{100 * row['share_of_peak']:.1f}", bound["binds"]])
    return table(["tokens, model, heads", "FMA, us", "+ short tiles", "+ exponentials", "overlapping reads",
                  "upper limit, % of peak", "measured, % of peak", "largest limit besides FMA"], rows)


def threads(known):
    rows = [[*shape_cells(row), f"{1e6 * row['alone_seconds']:.0f}", f"{1e6 * row['together_seconds']:.0f}",
             f"{row['times_as_fast']:.2f} ({row['lower_quartile']:.2f}, {row['upper_quartile']:.2f})",
             percent(row["disturbed"])] for row in known["threads"]["rows"]]
    count = known["threads"]["machine"]["threads"]
    return table(["tokens, model, heads", "mask", "one thread, us", f"{count} threads, us", "times as fast (quartiles)",
                  "disturbed, %"], rows)


def peers(name):
    return lambda known: figures.tables(known[name])


def minilm(name):
    return lambda known: minilm_tables.all_tables(known[name])


def keywords(known):
    return keywords_tables.all_tables(known["keywords"])


def llama(known):
    return llama_tables.all_tables(known["llama"])


def scaling(known):
    """Returns the table of microseconds per token, and of the ratios to the fastest peer."""
    rows = known["scaling"]["rows"]
    names = ["Ladon", *figures.peer_names(rows)]
    cells = []
    for row in rows:
        by_name = {one["name"]: f"{1e6 * figures.median_seconds(one) / row['tokens']:.3g}"
                   for one in row["contestants"]}
        ratio = figures.ratio_to_fastest(row)
        cells.append([*shape_cells(row), *(by_name.get(name, "") for name in names), f"{ratio:.2f}" if ratio else "",
                      percent(figures.disturbed(row["contestants"]))])
    return ("The table has the microseconds per token (median of the rounds). The column \"times as fast\" compares "
            "Ladon with the fastest other library:\n\n") + table(
        ["tokens, model, heads", "mask", *names, "times as fast", "disturbed, %"], cells)


def start(known):
    rows = []
    for row in known["start"]["rows"]:
        kernel = f" (the kernel: {row['kernel_bytes']:,})" if "kernel_bytes" in row else ""
        rows.append([row["shape"].replace(",", ", "), row["name"],
                     *(f"{1e3 * row['seconds'][step]:.1f}" for step in ("started", "imported", "loaded", "first")),
                     f"{row['bytes']:,}{kernel}"])
    return table(["tokens, model, heads", "", "process started, ms", "library imported", "weights loaded",
                  "first result", "bytes on disk"], rows)


def markdown(name):
    return lambda known: known[name]["markdown"].strip()


def browser(known):
    """Returns the tables of attention in a browser. Adds a table with the smallest, mean and largest speed-up of each
    column."""
    text = known["browser"]["markdown"].strip()
    heading, _, *rows = next(block.splitlines() for block in text.split("\n\n")
                             if block.startswith("|") and " / " in block.splitlines()[0])
    cells = lambda line: line.strip("| ").split(" | ")
    columns = list(zip(*(cells(row) for row in rows)))
    speed_ups = {name: [float(cell.split()[0]) for cell in column]
                 for name, column in zip(cells(heading), columns) if " / " in name}
    summary = table(["", "smallest speed-up", "geometric mean", "largest"],
                    [[name, *(f"{value:.2f}" for value in (min(ones), figures.geometric_mean(ones), max(ones)))]
                     for name, ones in speed_ups.items()])
    return f"{text}\n\nSpeed-ups of all shapes and masks above:\n\n{summary}"


def firmware(known):
    return f"<!-- not run: the output of ./dev bench firmware -->\n```text\n{known['firmware']['text'].strip()}\n```"


SUMMARY_SHAPES = [("attention", 32, 64, "full"), ("attention", 128, 384, "full"), ("attention", 512, 256, "causal"),
                  ("encoder_layer", 128, 384, "full")]
MINILM_PARTS = {"float32": "minilm", "bfloat16": "minilm_bfloat16", "int8": "minilm_int8"}


def single_sentences(measured):
    """Returns {tokens: row} for single sentences that another library computes correctly. The case of one mixed
    sentence repeats a length."""
    rows = {}
    for row in measured["rows"]:
        if len(row["tokens"]) == 1 and all(one["way"] == minilm_tables.EACH for one in row["contestants"]) and \
                figures.libraries_of(row):
            rows.setdefault(row["tokens"][0], row)
    return dict(sorted(rows.items()))


def fastest_library(row):
    return min(figures.libraries_of(row), key=figures.median_seconds)


def minilm_lengths(known):
    """Returns the table of Ladon's speed-up over the fastest other library by the tokens of a sentence."""
    rows = {precision: single_sentences(known[part]) for precision, part in MINILM_PARTS.items()}
    counts = sorted(set.union(*map(set, rows.values())))
    times = lambda row: f"{figures.times_as_fast(figures.ladon_of(row), fastest_library(row))['median']:.2f}"
    return table(["MiniLM, tokens", *map(str, counts)],
                 [[precision, *(times(by_count[count]) if count in by_count else "" for count in counts)]
                  for precision, by_count in rows.items()])


def summary(known):
    """Returns the tables of README.md, which compare Ladon with the fastest other library for some shapes and for
    MiniLM."""
    peers_rows = {(row["kind"], row["tokens"], row["model"], row["mask"]): row for row in known["peers"]["rows"]}
    rows = [summary_row(summary_name(peers_rows[key]), peers_rows[key]) for key in SUMMARY_SHAPES]
    return (f"{known['peers']['run']['date'][:10]}, {known['peers']['machine']['cpu']}, one core, float32:\n\n"
            + table(["computation", "Ladon, us", "% of FMA peak", "fastest other library", "times as fast"], rows)
            + f"\n\n{known['minilm_int8']['run']['date'][:10]}, {known['minilm_int8']['machine']['cpu']}, one core, "
            "the sentence encoder all-MiniLM-L6-v2 from ids to vector, times as fast as the fastest other library:\n\n"
            + minilm_lengths(known))


def comparison(known):
    """Returns the table of docs/comparison.md: the speed-ups of Ladon over each library in attention, and the time that
    each library needs to start."""
    start = {row["name"]: row for row in known["start"]["rows"] if row["shape"] == "128,384,12"}
    attention = [row for row in known["peers"]["rows"] if row["kind"] == "attention"]
    rows = []
    for name in ["Ladon", *figures.peer_names(attention)]:
        if name == "Ladon":
            ratios = ["", "", ""]
        else:
            times = [figures.times_as_fast(figures.ladon_of(row), one)["median"] for row in attention
                     for one in row["contestants"] if one["name"] == name]
            ratios = [f"{value:.2f}" for value in (min(times), figures.geometric_mean(times), max(times))]
        begun = start.get(name)
        rows.append([name, *ratios, *([f"{1e3 * begun['seconds']['first']:.1f}", f"{begun['bytes']:,}"] if begun
                                      else ["not measured", "not measured"])])
    return table(["library", "speed-up of Ladon: smallest", "geometric mean", "largest", "first result, ms",
                  "bytes on disk"], rows)


def comparison_int8(known):
    """Returns the table of docs/comparison.md with int8 weights: for each library, the speed-up of Ladon and the cosine
    of the library to float64."""
    libraries = {"LiteRT": ("LiteRT", "LiteRT (XNNPACK)"), "ONNX Runtime": ("ONNX Runtime",),
                 "OpenVINO": ("OpenVINO",)}
    single = [row for row in known["minilm_int8"]["rows"] if len(row["tokens"]) == 1
              and all(one["way"] == minilm_tables.EACH for one in row["contestants"])]
    named = [(f"{row['kind'].replace('_', ' ')} ({row['tokens']},{row['model']},{row['heads']})"
              f"{', causal' if row['mask'] == 'causal' else ''}", row) for row in known["peers_int8"]["rows"]]
    named += [(f"MiniLM, {row['tokens'][0]} tokens", row) for row in single]
    rows = []
    for name, row in named:
        ladon = figures.ladon_of(row)
        found = [next((one for one in row["contestants"] if one["name"] in names), None)
                 for names in libraries.values()]
        rows.append([name, f"{ladon['cosine']:.5f}",
                     *(f"{figures.times_as_fast(ladon, one)['median']:.2f}; {one['cosine']:.5f}" if one
                       else "not measured" for one in found)])
    return f"{where(known['minilm_int8'])}\n\n" + table(["int8 weights", "cosine of Ladon", *libraries], rows)


def comparison_keywords(known):
    """Returns the table of docs/comparison.md with the speed-ups of Ladon over LiteRT in KWT-1."""
    parts = {"chain": "from sound to logits", "model": "from features to logits"}
    rows = []
    for row in known["keywords"]["rows"]:
        for precision in ("float32", "int8"):
            ladon, other = (next(one for one in row["contestants"] if (one["name"], one["precision"]) ==
                                 (name, precision)) for name in ("Ladon", "LiteRT"))
            rows.append([parts[row["part"]], precision, f"{figures.times_as_fast(ladon, other)['median']:.2f}",
                         f"{ladon['error']:.1e}", f"{other['error']:.1e}"])
    return f"{where(known['keywords'])}\n\n" + table(
        ["KWT-1", "weights", "speed-up of Ladon over LiteRT", "largest error of a logit: Ladon", "LiteRT"], rows)


def where(measured):
    """Returns the date and the processor of a measurement on one core."""
    return f"{measured['run']['date'][:10]}, {measured['machine']['cpu']}, one core:"


def summary_name(row):
    """Returns the shape of a row of peers, in words."""
    kind = "encoder layer" if row["kind"] == "encoder_layer" else f"attention, {row['mask']}"
    return f"{kind}: {row['tokens']} tokens, width {row['model']}, {row['heads']} heads"


def summary_row(name, row):
    """Returns the cells of a row: Ladon's time and share of the peak, the fastest other library, and the ratio of the
    times of both."""
    ours = figures.ladon_of(row)
    fastest = min(figures.others_of(row), key=lambda one: figures.times_as_fast(ours, one)["median"])
    return [name, f"{1e6 * figures.median_seconds(ours):,.1f}",
            f"{100 * figures.share_of_peak(row, ours)['median']:.0f}", fastest["name"],
            f"{figures.times_as_fast(ours, fastest)['median']:.2f}"]
