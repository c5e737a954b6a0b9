"""Makes lines and tables from the seconds of the rounds."""

from ladon_bench.figures import disturbed, machine_line, median_seconds, table, times_as_fast_text


def title(row):
    if row["together"]:
        return f"prompt of {row['measured']}"
    return f"a token behind {row['depth']}"


def times(row, one):
    """Returns the speed-up of Ladon over this contestant, as a text."""
    if one["name"] == "Ladon":
        return ""
    return times_as_fast_text(row["contestants"][0], one)


def lines(row):
    """Yields a line for each contestant of a measured row."""
    for one in row["contestants"]:
        line = (f"{row['precision']}, {title(row):20} {one['name']:10}{1e3 * median_seconds(one):8.3f} ms a token"
                f"{100 * disturbed([one]):5.0f}% disturbed, cosine {one['cosine']:.4f}")
        ratio = times(row, one)
        yield f"{line}   Ladon is {ratio} times as fast   {one['form']}" if ratio else line


def cells(row, one):
    return [row["precision"], title(row), one["name"], f"{1e3 * median_seconds(one):.3f}",
            f"{1 / median_seconds(one):.0f}", times(row, one), f"{one['cosine']:.4f}", one["form"]]


def markdown(all_figures):
    return f"{machine_line(all_figures['machine'])}\n\n{all_tables(all_figures)}\n"


def all_tables(all_figures):
    """Returns the tables of bench/results.md."""
    rows = all_figures["rows"]
    heading = ["weights", "", "", "ms a token", "tokens a second", "speed-up of Ladon (quartiles)", "cosine to float64",
               "form"]
    alone = 100 * (1 - disturbed([one for row in rows for one in row["contestants"]]))
    return "\n\n".join([table(heading, [cells(row, one) for row in rows for one in row["contestants"]]),
                        f"In {alone:.0f}% of all rounds, no other program disturbed the core."])
