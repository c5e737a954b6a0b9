"""The chart of the figures of `./dev bench minilm`: single sentences of all measured lengths."""

from matplotlib import ticker

from ladon_bench import figures
from ladon_bench.charts.drawing import GREY, chart_of, legend, save
from ladon_bench.tables import fastest_library, single_sentences

STYLES = {"float32": ("#d55e00", "o"), "bfloat16": ("#009e73", "s"), "int8": ("#0072b2", "D")}  # colour and marker
LENGTHS = [4, 8, 16, 32, 64, 128]  # the marks of the axis


def draw(measured, path):
    """Draws the time of a token and the speed beside the fastest other library, over the tokens of the sentence.
    `measured` has the figures of each precision."""
    chart, axes = chart_of(2, height=2.5, sharex=True)
    times, ratios = axes[:, 0]
    for precision, (colour, marker) in STYLES.items():
        rows = list(single_sentences(measured[precision]).values())
        tokens = [row["tokens"][0] for row in rows]
        style = {"label": precision, "color": colour, "marker": marker, "markersize": 4, "linewidth": 1.2}
        seconds = [figures.median_seconds(figures.ladon_of(row)) for row in rows]
        times.plot(tokens, [1e6 * time / count for time, count in zip(seconds, tokens)], **style)
        compared = [figures.times_as_fast(figures.ladon_of(row), fastest_library(row)) for row in rows]
        middle = [ratio["median"] for ratio in compared]
        ratios.plot(tokens, middle, **style)
        ratios.fill_between(tokens, [ratio["lower"] for ratio in compared], [ratio["upper"] for ratio in compared],
                            color=colour, alpha=0.2, linewidth=0)
    times.set(ylabel="microseconds a token", ylim=(0, None))
    ratios.axhline(1, color=GREY, linewidth=1)
    ratios.set(ylabel="Ladon, times as fast as\nthe fastest other library", xlabel="tokens", xscale="log")
    ratios.set_xticks(LENGTHS, map(str, LENGTHS))
    ratios.xaxis.set_minor_locator(ticker.NullLocator())
    legend(chart, ratios)
    save(chart, path)
