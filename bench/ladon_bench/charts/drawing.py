"""The style of all charts, and the function that writes a chart."""

import io
import sys

import matplotlib
from matplotlib import pyplot, ticker

from ladon_bench import whole_file
from ladon_bench.charts.smaller import Smaller

# The charts are readable on white and on dark pages, because the charts have no background, and GREY has a contrast of
# 4 to 1 on white and on dark.
GREY = "#7d8188"
# The colours of Okabe and Ito, which colour-blind people can distinguish. Ladon has the strongest colour.
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


def label(row):
    return f"{row['tokens']}, {row['model']}, {row['heads']}"


def chart_of(lines=1, columns=1, height=3.0, **how):
    return pyplot.subplots(lines, columns, figsize=(9.5, height * lines + 0.4), layout="constrained", squeeze=False,
                           **how)


def legend(chart, axes):
    handles, labels = axes.get_legend_handles_labels()
    chart.legend(handles, labels, loc="outside upper center", ncols=min(8, len(labels)), columnspacing=1.2,
                 handlelength=1.2)


def plain_numbers(axis, digits):
    """Sets the marks of a logarithmic axis to the powers of 10 multiplied by `digits`."""
    axis.set_major_locator(ticker.LogLocator(subs=digits))
    axis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axis.set_minor_locator(ticker.NullLocator())


def save(chart, path):
    # The chart's file contains no date, so equal figures give an equal file.
    text = io.StringIO()
    chart.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    whole_file.write(path, Smaller(text.getvalue()).svg())
    pyplot.close(chart)
    print(path, file=sys.stderr)
