"""Computes shares, ratios and tables from the seconds of the rounds."""

import math

LADON_FLOAT32 = "Ladon float32"  # the name of Ladon with float32 weights in a comparison of int8 weights
ENOUGH = 5  # with fewer undisturbed rounds, disturbed rounds count, too


def quantile(values, part):
    """Returns the value below which `part` of the values lie, like quantile in support/rounds.hpp."""
    ordered = sorted(values)
    return ordered[math.floor(part * (len(ordered) - 1) + 0.5)]


def spread(values):
    return {"median": quantile(values, 0.5), "lower": quantile(values, 0.25), "upper": quantile(values, 0.75)}


def case_name(row):
    precision = "/int8" if is_int8(row) else ""
    return f"{row['kind']}/{row['tokens']},{row['model']},{row['heads']}/{row['mask']}{precision}"


def is_int8(row):
    return row.get("precision") == "int8"


def counted(*ones):
    """Returns the rounds in which all these contestants were undisturbed. Returns all rounds if too few rounds were
    undisturbed."""
    rounds = range(len(ones[0]["seconds"]))
    alone = [i for i in rounds if not any(one["disturbed"][i] for one in ones)]
    return alone if len(alone) >= min(ENOUGH, len(rounds)) else rounds


def share_of_peak(row, one):
    """Returns the contestant's share of the FMA peak. The peak was measured directly before and after each round."""
    return spread([row["flops"] / one["seconds"][i] * 1e-9 / one["peak_gflops"][i] for i in counted(one)])


def times_as_fast(one, other):
    return spread([other["seconds"][i] / one["seconds"][i] for i in counted(one, other)])


def times_as_fast_text(one, other):
    """Returns how many times as fast `one` is: the median and, in parentheses, the quartiles."""
    times = times_as_fast(one, other)
    return f"{times['median']:.2f} ({times['lower']:.2f}, {times['upper']:.2f})"


def median_seconds(one):
    return quantile([one["seconds"][i] for i in counted(one)], 0.5)


def disturbed(ones):
    """Returns the part of all rounds of these contestants in which another process used the core."""
    rounds = [each for one in ones for each in one["disturbed"]]
    return sum(rounds) / len(rounds)


def ladon_of(row):
    return next(one for one in row["contestants"] if one["name"] == "Ladon")


def others_of(row):
    """Returns the contestants with which "Ladon" is compared: the other libraries and, in a comparison of int8 weights,
    LADON_FLOAT32."""
    return [one for one in row["contestants"] if one["name"] != "Ladon"]


def libraries_of(row):
    """Returns the contestants of other libraries, without LADON_FLOAT32."""
    return [one for one in others_of(row) if one["name"] != LADON_FLOAT32]


def peer_names(rows):
    """Returns the names of the peers in the order of their first occurrence."""
    return list(dict.fromkeys(one["name"] for row in rows for one in others_of(row)))


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def ratio_to_fastest(row):
    """Returns the median speed-up of Ladon over the fastest peer.

    Returns None without peers, or if the machine was so busy that nine layers took no longer than one layer.
    """
    least = min((times_as_fast(ladon_of(row), one)["median"] for one in libraries_of(row)), default=0)
    return least if least > 0 else None


def summary(rows):
    """Returns the geometric mean and the minimum of the speed-ups, over all rows of attention with peers."""
    ratios = [ratio for row in rows if row["kind"] == "attention" and (ratio := ratio_to_fastest(row)) is not None]
    if not ratios:
        return None
    return {"cells": len(ratios), "geometric_mean_over_fastest_peer": geometric_mean(ratios), "least": min(ratios)}


def lines(row):
    """Yields a line for each contestant of a measured case."""
    for one in row["contestants"]:
        share = share_of_peak(row, one)
        gflops = row["flops"] / median_seconds(one) * 1e-9
        line = (f"{case_name(row):34} {one['name']:18}" + "".join(f"{100 * share[key]:7.1f}%" for key in
                                                                 ("median", "lower", "upper"))
                + f"{gflops:9.1f}{quantile(one['peak_gflops'], 0.5):9.1f}{100 * disturbed([one]):10.0f}%")
        if is_int8(row):
            line += f"{1e6 * median_seconds(one):10.1f} us, cosine {one['cosine']:.5f}"
        if one["name"] != "Ladon":
            times = times_as_fast(ladon_of(row), one)
            line += f"{times['median']:8.2f} ({times['lower']:.2f}, {times['upper']:.2f})  {one['form']}"
        yield line


HEADING = f"{'':53} of peak      quartiles  GFLOP/s     peak  disturbed   speed-up of Ladon, quartiles"


def machine_line(machine):
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    return (f"{machine['date'][:10]}, {machine['cpu']}, {machine['system']}, {machine['compiler']} {machine['flags']}, "
            f"{machine['simd']}, {machine['target']}, threads: {machine['threads']}, {machine['rounds']} rounds; "
            f"{versions}.")


def table(heading, rows):
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heading, ["---"] * len(heading), *rows])


def shape_cells(row):
    shape = f"{row['tokens']}, {row['model']}, {row['heads']}"
    return [shape + (" encoder layer" if row["kind"] == "encoder_layer" else ""), row["mask"]]


def markdown(figures):
    return f"{machine_line(figures['machine'])}\n\n{tables(figures)}\n"


def tables(figures):
    """Returns the tables of bench/results.md. A cell is blank if a row lacks the contestant."""
    rows = figures["rows"]
    names = peer_names(rows)
    everyone = ["Ladon", *names]
    shape = ["tokens, model, heads", "mask"]

    def cells(row, columns, cell):
        by_name = {one["name"]: one for one in row["contestants"]}
        return [cell(row, by_name[name]) if name in by_name else "" for name in columns]

    def of(columns, cell):
        return table([*shape, *columns], [[*shape_cells(row), *cells(row, columns, cell)] for row in rows])

    def with_disturbed(cell):
        """Returns a table with a cell for each contestant, and the percentage of disturbed rounds."""
        return table([*shape, *everyone, "disturbed"],
                     [[*shape_cells(row), *cells(row, everyone, cell), f"{100 * disturbed(row['contestants']):.0f}"]
                      for row in rows])

    def ratio(row, one):
        return times_as_fast_text(ladon_of(row), one)

    if any(map(is_int8, rows)):
        parts = ["The table has the microseconds with int8 weights (median of the rounds). The last column has the "
                 "percentage of disturbed rounds:", with_disturbed(lambda row, one: f"{1e6 * median_seconds(one):.1f}"),
                 "The next table has the smallest cosine between a row of the result and the same row in float64:",
                 of(everyone, lambda row, one: f"{one['cosine']:.5f}")]
    else:
        parts = ["The table has the share of the FMA peak in percent (median of the rounds). The last column has "
                 "the percentage of disturbed rounds:",
                 with_disturbed(lambda row, one: f"{100 * share_of_peak(row, one)['median']:.1f}")]
    if names:
        parts += ["The next table has the speed-up of Ladon over each library. Each cell has the median of the "
                  "rounds and, in parentheses, the quartiles:", of(names, ratio),
                  "The next table names the form of each library that was fastest:",
                  of(names, lambda row, one: one["form"])]
    if all_cells := summary(rows):
        parts.append(f"The {all_cells['cells']} attention rows compare Ladon with the fastest other library of the "
                     "row. The geometric mean of the speed-ups is "
                     f"{all_cells['geometric_mean_over_fastest_peer']:.2f}, and the smallest speed-up is "
                     f"{all_cells['least']:.2f}.")
    return "\n\n".join(parts)
