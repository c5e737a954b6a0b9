"""Computes the roofline: the share of the FMA peak that the attention of a shape can reach on a core, from the figures
of ceilings.cpp."""

import math

KEY_BLOCK = 256  # number of keys that are scored at a time


def stages(row):
    """Returns the stages of full attention: needed flops, needed bytes, the number of terms in a sum, and exponentials.
    Each operand is read once, and each result is written once. Scores stay in the caches, so they add no bytes."""
    tokens, model, heads = row["tokens"], row["model"], row["heads"]
    matrix = 4 * tokens * model  # bytes
    weights = 4 * (model * model + model)
    return [
        {"name": "Q, K, V", "flops": 6 * tokens * model**2, "bytes": 3 * weights + 4 * matrix, "terms": model},
        {"name": "scores", "flops": 2 * tokens**2 * model, "bytes": 2 * matrix, "terms": model // heads,
         "exponentials": heads * tokens**2},
        {"name": "weighted sums", "flops": 2 * tokens**2 * model, "bytes": 2 * matrix, "terms": min(tokens, KEY_BLOCK)},
        {"name": "output", "flops": 2 * tokens * model**2, "bytes": weights + 2 * matrix, "terms": model},
    ]


def needed_bytes(row):
    """Returns the bytes of the weights, x and y, which every call needs."""
    return 16 * (row["model"]**2 + row["model"]) + 8 * row["tokens"] * row["model"]


def level_of(ceilings, size):
    """Returns the first of L1, L2 and L3 that holds `size` bytes, or memory if none of them does."""
    return next((one for one in ceilings["reads"] if one["bytes"] >= size), ceilings["reads"][-1])


def tile_rate(ceilings, row, terms):
    """Returns the flops per second of tiles with sums of `terms` terms, interpolated between two measured lengths."""
    packs = 1 if row["tokens"] <= ceilings["lanes"] else max(one["packs"] for one in ceilings["tiles"])
    known = sorted((one["inner"], one["flops_a_second"]) for one in ceilings["tiles"] if one["packs"] == packs)
    below = max((one for one in known if one[0] <= terms), default=known[0])
    above = min((one for one in known if one[0] >= terms), default=known[-1])
    if above[0] == below[0]:
        return below[1]
    part = math.log(terms / below[0]) / math.log(above[0] / below[0])
    return below[1] + part * (above[1] - below[1])


def bounds(ceilings, row):
    """Returns the bounds in seconds: the time of all multiply-adds at the FMA peak, the additional time of short tiles
    and of exponentials, and the time to read weights, x and y once."""
    parts = stages(row)
    flops = sum(one["flops"] for one in parts)
    fma = flops / ceilings["flops_a_second"]
    tiles = sum(one["flops"] / tile_rate(ceilings, row, one["terms"]) for one in parts)
    exponentials = sum(one.get("exponentials", 0) for one in parts) / ceilings["exponentials_a_second"]
    level = level_of(ceilings, needed_bytes(row))
    reading = needed_bytes(row) / level["bytes_a_second"]
    added = {"short tiles": max(0.0, tiles - fma), "exponentials": exponentials}
    computing = fma + sum(added.values())
    # A core computes while it reads weights and activations. So the reads limit the speed only if they take longer than
    # the computation.
    binds = f"reads from {level['level']}" if reading > computing else max(added, key=added.get)
    return {"fma": fma, **added, "reading": reading, "level": level["level"], "binds": binds,
            "share": fma / max(computing, reading)}
