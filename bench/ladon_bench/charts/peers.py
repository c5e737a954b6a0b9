"""Charts of the figures of `./dev bench peers`: shares of the peak, ratios, and the growth of the cost."""

from matplotlib import ticker

from ladon_bench import figures
from ladon_bench.charts.drawing import COLOURS, GREY, MARKERS, MASKS, chart_of, label, legend, plain_numbers, save


def names_of(rows):
    """Returns the names of the contestants in the rows, in the order of COLOURS: Ladon first."""
    present = {one["name"] for row in rows for one in row["contestants"]}
    return [name for name in COLOURS if name in present]


def one_of(row, name):
    return next((one for one in row["contestants"] if one["name"] == name), None)


def panels_of(rows):
    """Returns {title: rows}, with a title for each kind and mask."""
    panels = {}
    for row in rows:
        what = "Encoder layer" if row["kind"] == "encoder_layer" else f"Attention, {MASKS[row['mask']]}"
        panels.setdefault(what, []).append(row)
    return panels


def draw_shares(rows, path):
    """Draws the share of the core's peak as bars, with a group of bars for each shape and the quartiles as whiskers."""
    panels, names = panels_of(rows), names_of(rows)
    chart, axes = chart_of(len(panels), height=2.5)
    axes = axes[:, 0]
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


def draw_ratios(rows, path):
    """Draws the ratios of speed as dots on a logarithmic scale, with the quartiles as whiskers. A line marks equal
    speed."""
    panels, names = panels_of(rows), names_of(rows)[1:]
    chart, axes = chart_of(len(panels), height=2.5)
    axes = axes[:, 0]
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
    """Draws microseconds per token over tokens and over the model's width, for each mask."""
    tokens = [row for row in rows if row["model"] == 256]
    models = [row for row in rows if row["tokens"] == 128]
    masks = list(dict.fromkeys(row["mask"] for row in rows))
    chart, axes = chart_of(len(masks), 2, sharey="col")
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
