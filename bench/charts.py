"""charts.py FILE.json ... [--to FOLDER] [--markdown]

Charts of what `./dev bench peers` wrote, as SVG: share_of_peak and times_as_fast of a run over shapes, scaling of a run
with --scaling. --markdown prints the tables of README.md. `./dev bench charts` runs this.
"""

import argparse
import json
import pathlib
import sys

import matplotlib
from matplotlib import pyplot, ticker

here = pathlib.Path(__file__).parent
sys.path.insert(0, str(here / "peers"))
import figures  # noqa: E402: it is found only now

# Readable on white and on a dark page alike: no background, and a grey between them (4 to 1 on either).
GREY = "#7d8188"
# Okabe and Ito's colours, told apart by people who are colour-blind; the strongest is Ladon's.
COLOURS = {"Ladon": "#d55e00", "ONNX Runtime": "#56b4e9", "OpenVINO": "#009e73", "LiteRT (XNNPACK)": "#e69f00",
           "IREE": "#cc79a7", "JAX": "#0072b2", "oneDNN": "#f0e442", "PyTorch": "#999999"}
MARKERS = dict(zip(COLOURS, "osD^vP<X"))
MASKS = {"full": "every token sees all", "causal": "causal"}

matplotlib.use("svg")
matplotlib.rcParams |= {
    "svg.fonttype": "none", "svg.hashsalt": "ladon", "font.family": "sans-serif", "font.size": 9, "text.color": GREY,
    "axes.labelcolor": GREY, "axes.edgecolor": GREY, "axes.titlesize": 10, "axes.titlelocation": "left",
    "xtick.color": GREY, "ytick.color": GREY, "grid.color": GREY, "grid.alpha": 0.35, "grid.linewidth": 0.5,
    "axes.grid": True, "axes.grid.axis": "y", "axes.axisbelow": True, "axes.spines.top": False,
    "axes.spines.right": False, "legend.frameon": False,
}


def names_of(rows):
    """Ladon first, then the others in the order of the palette."""
    present = {one["name"] for row in rows for one in row["contestants"]}
    return [name for name in COLOURS if name in present]


def one_of(row, name):
    return next((one for one in row["contestants"] if one["name"] == name), None)


def panels_of(rows):
    """A title and its rows: by kind and mask, as a table has them."""
    panels = {}
    for row in rows:
        what = "Encoder layer" if row["kind"] == "encoder_layer" else f"Attention, {MASKS[row['mask']]}"
        panels.setdefault(what, []).append(row)
    return panels


def label(row):
    return f"{row['tokens']}, {row['model']}, {row['heads']}"


def legend(chart, axes):
    handles, labels = axes.get_legend_handles_labels()
    chart.legend(handles, labels, loc="outside upper center", ncols=len(labels), columnspacing=1.2, handlelength=1.2)


def save(chart, path):
    # Without a date the same figures make the same file.
    chart.savefig(path, transparent=True, metadata={"Date": None})
    pyplot.close(chart)
    print(path, file=sys.stderr)


def stacked(panels):
    chart, axes = pyplot.subplots(len(panels), 1, figsize=(9.5, 2.5 * len(panels) + 0.4), layout="constrained",
                                  squeeze=False)
    return chart, axes[:, 0]


def draw_shares(rows, path):
    """Bars: the share of the core's peak, everyone beside everyone, a group a shape; whiskers are the quartiles."""
    panels, names = panels_of(rows), names_of(rows)
    chart, axes = stacked(panels)
    width = 0.86 / len(names)
    for where, (title, some) in zip(axes, panels.items()):
        for k, name in enumerate(names):
            known = [(i, figures.share_of_peak(row, one)) for i, row in enumerate(some) if (one := one_of(row, name))]
            at = [i + (k - (len(names) - 1) / 2) * width for i, _ in known]
            whiskers = [[max(0, 100 * (share["median"] - share["lower"])) for _, share in known],
                        [max(0, 100 * (share["upper"] - share["median"])) for _, share in known]]
            where.bar(at, [100 * share["median"] for _, share in known], 0.92 * width, label=name,
                      color=COLOURS[name], yerr=whiskers, error_kw={"ecolor": GREY, "elinewidth": 0.6})
        where.set(title=title, ylabel="% of FMA peak", ylim=(0, 100), xlim=(-0.5, len(some) - 0.5))
        where.set_xticks(range(len(some)), map(label, some))
        where.tick_params(axis="x", length=0)
    axes[-1].set_xlabel("tokens, model, heads")
    legend(chart, axes[0])
    save(chart, path)


def plain_numbers(axis, digits):
    """A logarithmic axis with marks at so many tenfolds of these."""
    axis.set_major_locator(ticker.LogLocator(subs=digits))
    axis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axis.set_minor_locator(ticker.NullLocator())


def draw_ratios(rows, path):
    """Dots above or below the line of equal speed, on a scale of ratios; whiskers are the quartiles."""
    panels, names = panels_of(rows), names_of(rows)[1:]
    chart, axes = stacked(panels)
    for where, (title, some) in zip(axes, panels.items()):
        for k, name in enumerate(names):
            known = [(i, figures.times_as_fast(figures.ladon_of(row), one)) for i, row in enumerate(some)
                     if (one := one_of(row, name))]
            at = [i + 0.1 * (k - (len(names) - 1) / 2) for i, _ in known]
            middle = [times["median"] for _, times in known]
            whiskers = [[max(0, times["median"] - times["lower"]) for _, times in known],
                        [max(0, times["upper"] - times["median"]) for _, times in known]]
            where.errorbar(at, middle, whiskers, label=name, color=COLOURS[name], marker=MARKERS[name], markersize=5,
                           linestyle="none", elinewidth=0.8)
        where.axhline(1, color=GREY, linewidth=1)
        where.set(title=title, ylabel="Ladon, times as fast", yscale="log", xlim=(-0.5, len(some) - 0.5))
        plain_numbers(where.yaxis, (1, 1.5, 2, 3, 5, 7))
        where.set_xticks(range(len(some)), map(label, some))
        where.tick_params(axis="x", length=0)
    axes[-1].set_xlabel("tokens, model, heads")
    legend(chart, axes[0])
    save(chart, path)


def draw_scaling(rows, path):
    """Microseconds a token over tokens, and over the model's width, each for both masks."""
    tokens = [row for row in rows if row["model"] == 256]
    models = [row for row in rows if row["tokens"] == 128]
    masks = list(dict.fromkeys(row["mask"] for row in rows))
    chart, axes = pyplot.subplots(len(masks), 2, figsize=(9.5, 3 * len(masks) + 0.4), layout="constrained",
                                  squeeze=False, sharey="col")
    names = names_of(rows)
    for line, mask in zip(axes, masks):
        for where, some, size, fixed in ((line[0], tokens, "tokens", "model 256"),
                                         (line[1], models, "model", "128 tokens")):
            for name in names:
                known = [(row, one) for row in some if row["mask"] == mask and (one := one_of(row, name))]
                known.sort(key=lambda pair: pair[0][size])
                where.plot([row[size] for row, _ in known],
                           [figures.median_seconds(one) * 1e6 / row["tokens"] for row, one in known],
                           label=name, color=COLOURS[name], marker=MARKERS[name], markersize=4, linewidth=1.2)
            where.set(title=f"{fixed}, 8 heads, {MASKS[mask]}", xlabel=size, ylabel="microseconds a token",
                      xscale="log", yscale="log")
            sizes = sorted({row[size] for row in some})
            where.set_xticks(sizes, map(str, sizes))
            where.xaxis.set_minor_locator(ticker.NullLocator())
            plain_numbers(where.yaxis, (1, 2, 5))
    legend(chart, axes[0][0])
    save(chart, path)


def main():
    parser = argparse.ArgumentParser(prog="dev bench charts", description=__doc__.split("\n\n")[1])
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE.json")
    parser.add_argument("--to", type=pathlib.Path, default=here / "charts", help="a folder; default: bench/charts")
    parser.add_argument("--markdown", action="store_true", help="print the tables as well")
    options = parser.parse_args()
    options.to.mkdir(parents=True, exist_ok=True)
    for file in options.files:
        measured = json.loads(file.read_text())
        rows = measured["rows"]
        if measured["scaling"]:
            draw_scaling(rows, options.to / "scaling.svg")
        else:
            draw_shares(rows, options.to / "share_of_peak.svg")
            if len(names_of(rows)) > 1:
                draw_ratios(rows, options.to / "times_as_fast.svg")
        if options.markdown:
            print(figures.markdown(measured))


if __name__ == "__main__":
    main()
