"""The style of all charts, and the function that writes a chart."""

import io
import re
import sys
from xml.etree import ElementTree

import matplotlib
from matplotlib import pyplot, ticker

from ladon_bench import whole_file

# The charts are readable on white and on dark pages, because the charts have no background, and GREY has a contrast of
# 4 to 1 on white and on dark.
GREY = "#7d8188"
# The colours of Okabe and Ito, which colour-blind people can distinguish. Ladon has the strongest colour.
COLOURS = {"Ladon": "#d55e00", "ONNX Runtime": "#56b4e9", "OpenVINO": "#009e73", "LiteRT (XNNPACK)": "#e69f00",
           "IREE": "#cc79a7", "JAX": "#0072b2", "oneDNN": "#f0e442", "PyTorch": "#999999"}
MARKERS = dict(zip(COLOURS, "osD^vP<X"))
SVG = "{http://www.w3.org/2000/svg}"
MASKS = {"full": "every token sees all", "causal": "causal"}

ElementTree.register_namespace("", SVG.strip("{}"))
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
matplotlib.use("svg")
matplotlib.rcParams |= {
    "svg.fonttype": "none", "svg.hashsalt": "ladon", "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans", "Verdana"], "font.size": 9, "text.color": GREY,
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


def small(svg):
    """Returns the same picture in a quarter of the bytes.

    Removes groups and names that nothing refers to, rounds lengths to 0.1 pixels, and makes a class of each style.
    """
    svg = re.sub(r"\d+\.\d\d+", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), svg)
    svg = re.sub(r' transform="rotate\(-0 [^"]*"', "", svg)
    names = {name: f"i{i}" for i, name in enumerate(sorted(set(re.findall(r"#([a-z][0-9a-f]{10})\b", svg))))}
    svg = re.sub("|".join(names) or "$^", lambda name: names[name[0]], svg)
    root = ElementTree.fromstring(svg)
    classes = {}
    unwrap(root, set(names.values()), classes)
    rules = "".join(f".{name}{{{style.replace(': ', ':').replace('; ', ';')}}}" for style, name in classes.items())
    root.find(f"{SVG}defs/{SVG}style").text += rules
    return ElementTree.tostring(root, encoding="unicode").replace("><text", ">\n<text").replace("><path", ">\n<path")


def unwrap(element, names, classes):
    """Replaces plain groups below an element by their content, and styles by classes."""
    element.text = element.text if element.tag in (f"{SVG}text", f"{SVG}style", f"{SVG}tspan") else None
    children = list(element)
    element[:] = []
    for child in children:
        unwrap(child, names, classes)
        child.tail = None
        if child.get("id") not in names:
            child.attrib.pop("id", None)
        if "d" in child.attrib:
            child.set("d", re.sub(r"\s*([MLQCz])\s*", r"\1", " ".join(child.get("d").split())))
        if style := child.attrib.pop("style", None):
            child.set("class", classes.setdefault(style, f"s{len(classes)}"))
        if child.tag == f"{SVG}g" and not child.attrib:
            element.extend(child)
        elif child.tag != f"{SVG}metadata":
            element.append(child)


def save(chart, path):
    # The chart's file contains no date, so equal figures give an equal file.
    text = io.StringIO()
    chart.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    whole_file.write(path, small(text.getvalue()))
    pyplot.close(chart)
    print(path, file=sys.stderr)
