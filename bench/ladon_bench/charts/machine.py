"""Charts of the peak rates of a core with the rates of layers, of memory, of starts, and of threads."""

import math

from ladon_bench import roofline
from ladon_bench.charts.drawing import COLOURS, GREY, chart_of, label, legend, plain_numbers, save

PALETTE = ["#d55e00", "#56b4e9", "#009e73", "#e69f00", "#cc79a7", "#0072b2", "#b2912f", "#8c564b"]
STAGE_MARKERS = dict(zip(["Q, K, V", "scores", "weighted sums", "output"], "^<>v"))


def draw_roofline(ceilings, rows, path):
    """Draws GFLOP/s over flops per byte: peak rates as lines, whole attention as dots, and the limits of the stages of
    attention as hollow marks."""
    chart, axes = chart_of(height=4.6)
    where = axes[0][0]
    peak = ceilings["flops_a_second"] * 1e-9
    least, most = 0.5, 1000
    where.plot([least, most], [peak, peak], color=GREY, linewidth=1.4)
    where.annotate(f"FMA, {peak:.0f} GFLOP/s", (most, peak), (0, 3), textcoords="offset points", ha="right", fontsize=8)
    for one in ceilings["reads"]:
        rate = one["bytes_a_second"] * 1e-9
        ends = [least, max(least, peak / rate)]
        where.plot(ends, [rate * end for end in ends], color=GREY, linewidth=1)
        where.annotate(f"{one['level']}, {rate:.0f} GB/s", (ends[0], rate * ends[0]), (10, 14),
                       textcoords="offset points", fontsize=8, rotation=38, rotation_mode="anchor")
    for row, colour in zip(rows, PALETTE):
        level = roofline.level_of(ceilings, roofline.needed_bytes(row))
        intensities = {}
        for stage in roofline.stages(row):
            intensity = stage["flops"] / stage["bytes"]
            rate = roofline.tile_rate(ceilings, row, stage["terms"])
            reachable = min(rate, intensity * level["bytes_a_second"]) * 1e-9
            intensities[stage["name"]] = (intensity, reachable)
        for name, at in intensities.items():
            where.plot(*at, STAGE_MARKERS[name], markerfacecolor="none", markeredgecolor=colour, markersize=5,
                       markeredgewidth=0.8)
        flops = sum(stage["flops"] for stage in roofline.stages(row))
        at = flops / roofline.needed_bytes(row)
        where.plot(at, row["gflops"], "o", color=colour, markersize=7, label=label(row))
        where.plot(at, roofline.bounds(ceilings, row)["share"] * peak, "_", color=colour, markersize=14,
                   markeredgewidth=1.6)
    for name, marker in STAGE_MARKERS.items():
        where.plot([], [], marker, markerfacecolor="none", markeredgecolor=GREY, linestyle="none", label=name)
    where.set(xscale="log", yscale="log", xlim=(least, most), ylim=(4, 2 * peak),
              xlabel="needed flops a byte of weights, x and y (of a stage: of its operands and result)",
              ylabel="GFLOP/s")
    plain_numbers(where.xaxis, (1, 2, 5))
    plain_numbers(where.yaxis, (1, 2, 5))
    legend(chart, where)
    save(chart, path)


def draw_memory(rows, path):
    """Draws bytes over tokens and over the model's width, for the workspace and for textbook attention."""
    chart, axes = chart_of(1, 2, height=3.2, sharey=True)
    sweeps = (("tokens", "model 256, 8 heads", [row for row in rows if row["model"] == 256]),
              ("model", "128 tokens, 8 heads", [row for row in rows if row["tokens"] == 128]))
    lines = (("workspace_bytes", "Ladon's workspace", COLOURS["Ladon"], "o-"),
             ("scores_bytes", "scores of all heads", COLOURS["OpenVINO"], "D--"),
             ("textbook_bytes", "Q, K, V, scores, heads", COLOURS["ONNX Runtime"], "s-"))
    for where, (size, title, some) in zip(axes[0], sweeps):
        some = sorted(some, key=lambda row: row[size])
        for key, name, colour, style in lines:
            where.plot([row[size] for row in some], [row[key] / 2**20 for row in some], style, color=colour,
                       label=name, markersize=4, linewidth=1.2)
        where.set(title=title, xlabel=size, xscale="log", yscale="log")
        where.set_xticks([row[size] for row in some], [str(row[size]) for row in some])
        where.xaxis.minorticks_off()
        plain_numbers(where.yaxis, (1,))
    axes[0][0].set_ylabel("MiB")
    legend(chart, axes[0][0])
    save(chart, path)


def draw_start(rows, path):
    """Draws the milliseconds from the start of a process to its first result, divided into steps."""
    shapes = list(dict.fromkeys(row["shape"] for row in rows))
    steps = (("started", "process runs", 0.3), ("imported", "library is there", 0.5),
             ("loaded", "weights are loaded", 0.75), ("first", "first result", 1.0))
    chart, axes = chart_of(1, len(shapes), height=2.6, sharex=True)
    for where, shape in zip(axes[0], shapes):
        some = sorted((row for row in rows if row["shape"] == shape), key=lambda row: -row["seconds"]["first"])
        for k, row in enumerate(some):
            colour, left = COLOURS.get(row["name"], GREY), 0.0
            for step, _, strength in steps:
                until = 1e3 * row["seconds"][step]
                where.barh(k, until - left, 0.6, left, color=colour, alpha=strength)
                left = until
            where.annotate(f"{left:,.0f} ms" if left >= 100 else f"{left:.1f} ms", (left, k), (4, 0),
                           textcoords="offset points", va="center", fontsize=8)
        where.set_yticks(range(len(some)), [row["name"] for row in some])
        where.set(title=shape.replace(",", ", "), xlabel="milliseconds to the first result", xscale="symlog")
        where.set_xlim(0, 10 ** math.ceil(math.log10(1e3 * max(row["seconds"]["first"] for row in rows)) + 0.4))
        plain_numbers(where.xaxis, (1,))
        where.grid(axis="x")
        where.grid(visible=False, axis="y")
    save(chart, path)


def draw_threads(rows, path):
    """Draws the speed-up by several threads: a bar for each case, with the quartiles as whiskers."""
    chart, axes = chart_of(height=2.6)
    where = axes[0][0]
    names = [f"{label(row)}\n{row['mask'] if row['kind'] == 'attention' else 'encoder layer'}" for row in rows]
    middle = [row["times_as_fast"] for row in rows]
    whiskers = [[max(0, row["times_as_fast"] - row["lower_quartile"]) for row in rows],
                [max(0, row["upper_quartile"] - row["times_as_fast"]) for row in rows]]
    where.bar(range(len(rows)), middle, 0.6, color=COLOURS["Ladon"], yerr=whiskers,
              error_kw={"ecolor": GREY, "elinewidth": 0.8})
    where.axhline(1, color=GREY, linewidth=1)
    where.set_xticks(range(len(rows)), names)
    where.set(ylabel="times as fast", ylim=(0, max(row["threads"] for row in rows)))
    where.tick_params(axis="x", length=0)
    save(chart, path)
