"""Makes lines and tables from the seconds of the rounds."""

from ladon_bench.figures import disturbed, machine_line, median_seconds, table, times_as_fast_text

TITLES = {"chain": "From one second of sound to logits", "model": "From features to logits, without the front end"}


def ours(row, one):
    """Returns Ladon with the precision of this contestant, or None. For "int8 everywhere", returns Ladon with "int8",
    because Ladon's front end is always in float32."""
    precision = "float32" if one["precision"] == "float32" else "int8"
    by_precision = {each["precision"]: each for each in row["contestants"] if each["name"] == "Ladon"}
    return by_precision.get(precision)


def times(row, one):
    """Returns the speed-up of Ladon over this contestant, as a text."""
    ladon = ours(row, one)
    if one["name"] == "Ladon" or ladon is None:
        return ""
    return times_as_fast_text(ladon, one)


def lines(row):
    """Yields a line for each contestant of a measured part."""
    for one in row["contestants"]:
        line = (f"{row['part']:6} {one['name']:8}{one['precision']:16}{1e3 * median_seconds(one):8.3f} ms"
                f"{100 * disturbed([one]):5.0f}% disturbed, logits off by {one['error']:.1e}")
        ratio = times(row, one)
        yield f"{line}   Ladon is {ratio} times as fast   {one['form']}" if ratio else line


def cells(row, one):
    return [one["name"], one["precision"], f"{1e3 * median_seconds(one):.3f}", times(row, one), f"{one['error']:.1e}",
            one["form"]]


def markdown(all_figures):
    return f"{machine_line(all_figures['machine'])}\n\n{all_tables(all_figures)}\n"


def all_tables(all_figures):
    """Returns the tables of bench/results.md."""
    rows = all_figures["rows"]
    heading = ["", "weights", "ms a window", "speed-up of Ladon (quartiles)", "largest error of a logit", "form"]
    parts = []
    for row in rows:
        parts += [f"{TITLES[row['part']]}, one thread, medians:",
                  table(heading, [cells(row, one) for one in row["contestants"]])]
    alone = 100 * (1 - disturbed([one for row in rows for one in row["contestants"]]))
    return "\n\n".join([*parts, f"In {alone:.0f}% of all rounds, no other program disturbed the core."])
