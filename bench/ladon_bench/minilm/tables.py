"""Makes lines and tables from the seconds of the rounds."""

from ladon_bench.figures import disturbed, machine_line, median_seconds, share_of_peak, table, times_as_fast_text

EACH, TOGETHER = "a call each", "together"


def ours(row):
    """Returns the faster of Ladon's two ways: a call for each sentence, or one call for all."""
    return min((one for one in row["contestants"] if one["name"] == "Ladon"), key=median_seconds)


def names(rows):
    return list(dict.fromkeys(one["name"] for row in rows for one in row["contestants"]))


def times(row, one):
    """Returns the speed-up of Ladon's faster way over the contestant `one`, as a text."""
    return times_as_fast_text(ours(row), one)


def lines(row):
    """Yields a line for each contestant of a measured case."""
    count = len(row["tokens"])
    case = f"{count} sentence{'s' * (count > 1)}, {sum(row['tokens'])} tokens"
    for one in row["contestants"]:
        line = (f"{case:26} {one['name']:14} {one['way']:12}{1e3 * median_seconds(one):9.2f} ms"
                f"{count / median_seconds(one):9.1f}/s{100 * share_of_peak(row, one)['median']:7.1f}% of peak"
                f"{100 * disturbed([one]):5.0f}% disturbed, cosine {one['cosine']:.4f}")
        yield line if one is ours(row) else f"{line}   Ladon is {times(row, one)} times as fast   {one['form']}"


def single_tables(rows):
    """Yields the tables for single sentences: times, shares of peak, and speed-ups of Ladon."""
    everyone = names(rows)
    by_name = [{one["name"]: one for one in row["contestants"]} for row in rows]

    def cell(row, one):
        return f"{1e3 * median_seconds(one):.2f} ({100 * share_of_peak(row, one)['median']:.0f}%)" if one else ""

    yield ("The table has the milliseconds from the token ids to the vector (median of the rounds), with the share of "
           "the FMA peak in parentheses:")
    yield table(["tokens", *everyone], [[str(row["tokens"][0]), *(cell(row, named.get(name)) for name in everyone)]
                                        for row, named in zip(rows, by_name)])
    yield ("The next table has the speed-up of Ladon over each library. Each cell has the median of the rounds and, in "
           "parentheses, the quartiles:")
    yield table(["tokens", *everyone[1:]],
                [[str(row["tokens"][0]), *(times(row, named[name]) if name in named else "" for name in everyone[1:])]
                 for row, named in zip(rows, by_name)])


def mixed_tables(rows):
    """Yields the tables for several sentences: sentences per second, and the speed-ups of Ladon's faster way over the
    ways of the peers."""
    columns = [(name, way) for name in names(rows) for way in (EACH, TOGETHER)]
    by_column = [{(one["name"], one["way"]): one for one in row["contestants"]} for row in rows]
    rate = lambda row, one: f"{len(row['tokens']) / median_seconds(one):.1f}" if one else ""
    first = lambda row: [str(len(row["tokens"])), str(sum(row["tokens"]))]
    yield "The next table has the sentences per second (median of the rounds):"
    yield table(["sentences", "tokens", *(", ".join(column) for column in columns)],
                [[*first(row), *(rate(row, one.get(column)) for column in columns)]
                 for row, one in zip(rows, by_column)])
    peers = [column for column in columns if column[0] != "Ladon"]
    yield ("Each library computes several sentences in separate calls or together. Each cell of the next table has the "
           "speed of Ladon's faster way, divided by the speed in the column's heading (median of the rounds, quartiles "
           "in parentheses):")
    yield table(["sentences", "tokens", *(", ".join(column) for column in peers)],
                [[*first(row), *(times(row, one[column]) if column in one else "" for column in peers)]
                 for row, one in zip(rows, by_column)])


def markdown(all_figures):
    return f"{machine_line(all_figures['machine'])}\n\n{all_tables(all_figures)}\n"


def all_tables(all_figures):
    """Returns the tables of bench/results.md."""
    rows = all_figures["rows"]
    single = [row for row in rows if all(one["way"] == EACH for one in row["contestants"])]
    mixed = [row for row in rows if row not in single]
    parts = []
    parts += [*single_tables(single)] if single else []
    parts += [*mixed_tables(mixed)] if mixed else []
    alone = 100 * (1 - disturbed([one for row in rows for one in row["contestants"]]))
    return "\n\n".join([*parts, f"In {alone:.0f}% of all rounds, no other program disturbed the core."])
