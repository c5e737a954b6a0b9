#!/usr/bin/env python3
"""Cases of PyTorch's TransformerDecoderLayer (post-LN), with expected outputs from plain loops in float64.

    make_decoder_cases.py FILE

As in the conformance data of encoder layers, every parameter tensor holds cos(0), cos(1), ... in row-major order.
Tensors are [length][batch][model]. Padding masks are [batch][length], and 1 hides a token. The program needs only
Python. --check FILE compares the loops with a stored file, of encoder or decoder layers.
"""

import argparse
import json
import math
import pathlib
import random
import struct


def parameter(size):
    return [struct.unpack("f", struct.pack("f", math.cos(i)))[0] for i in range(size)]


def linear(x, width_out, first_row=0):
    """Multiplies one token by rows [first_row, first_row + width_out) of a weight, and adds the bias of these rows."""
    width = len(x)
    numbers = parameter((first_row + width_out) * width)
    return [sum(numbers[(first_row + r) * width + i] * x[i] for i in range(width)) + numbers[first_row + r]
            for r in range(width_out)]


def layer_norm(x, epsilon):
    mean = sum(x) / len(x)
    variance = sum((value - mean) ** 2 for value in x) / len(x)
    return [(value - mean) / math.sqrt(variance + epsilon) * p + p for value, p in zip(x, parameter(len(x)))]


def attend(queries, keys, hidden, heads):
    """Computes multi-head attention of one sentence with packed projections. Hidden keys have the weight 0."""
    model = len(queries[0])
    width = model // heads
    q = [linear(x, model) for x in queries]
    k = [linear(x, model, model) for x in keys]
    v = [linear(x, model, 2 * model) for x in keys]
    out = []
    for row in q:
        concat = []
        for h in range(heads):
            part = range(h * width, (h + 1) * width)
            seen = [j for j in range(len(k)) if not hidden[j]]
            scores = [sum(row[d] * k[j][d] for d in part) / math.sqrt(width) for j in seen]
            weights = [math.exp(s - max(scores)) for s in scores]
            concat += [sum(w * v[j][d] for w, j in zip(weights, seen)) / sum(weights) for d in part]
        out.append(linear(concat, model))
    return out


def feed_forward(x, hidden_width, activation):
    apply = {"relu": lambda a: max(a, 0.0), "gelu": lambda a: a * (1 + math.erf(a / math.sqrt(2))) / 2}[activation]
    return linear([apply(a) for a in linear(x, hidden_width)], len(x))


def sentence(x, memory, hidden, memory_hidden, document, activation):
    def add_and_norm(x, branch):
        return [layer_norm([a + b for a, b in zip(*rows)], document["eps"]) for rows in zip(x, branch)]

    heads = document["heads"]
    x = add_and_norm(x, attend(x, x, hidden, heads))
    if memory is not None:
        x = add_and_norm(x, attend(x, memory, memory_hidden, heads))
    return add_and_norm(x, [feed_forward(token, document["feed_forward"], activation) for token in x])


def run(document, case):
    """Returns the outputs of a case, [length][batch][model]."""
    length, batch = len(case["input"]), len(case["input"][0])
    memory = case.get("memory")
    out = [[None] * batch for _ in range(length)]
    for b in range(batch):
        hidden = case.get("target_padding_mask", case.get("padding_mask"))
        memory_hidden = case.get("memory_padding_mask")
        rows = sentence([token[b] for token in case["input"]],
                        [token[b] for token in memory] if memory else None,
                        hidden[b] if hidden else [0] * length,
                        memory_hidden[b] if memory_hidden else [0] * len(memory or []),
                        document, case["activation"])
        for i in range(length):
            out[i][b] = rows[i]
    return out


def cases(model):
    def make(name, activation, length, memory, batch, **masks):
        source = random.Random(name)
        numbers = lambda tokens: [[[round(source.gauss(0, 1), 2) for _ in range(model)] for _ in range(batch)]
                                  for _ in range(tokens)]
        return {"name": name, "activation": activation, "input": numbers(length), "memory": numbers(memory), **masks}

    yield make("one_token", "relu", 1, 1, 1)
    yield make("longer_memory", "relu", 2, 5, 2)
    yield make("shorter_memory", "gelu", 5, 2, 2)
    yield make("memory_mask", "relu", 2, 5, 2, memory_padding_mask=[[0, 0, 1, 0, 1], [1, 0, 0, 0, 0]])
    yield make("target_mask", "gelu", 5, 2, 2, target_padding_mask=[[0, 0, 0, 1, 1], [0, 1, 0, 0, 0]])
    yield make("both_masks", "relu", 2, 5, 1, target_padding_mask=[[1, 0]], memory_padding_mask=[[0, 1, 1, 1, 0]])


def write(path):
    document = {"source": "make_decoder_cases.py", "model": 6, "heads": 3, "feed_forward": 10, "eps": 1e-5,
                "parameters": "cos(arange(n)) in row-major order, each tensor from 0",
                "layer": "TransformerDecoderLayer, post-LN"}
    document["cases"] = list(cases(document["model"]))
    for case in document["cases"]:
        case["expected"] = [[[float("%.9g" % v) for v in token] for token in row] for row in run(document, case)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, separators=(",", ":")) + "\n")


def check(path):
    document = json.loads(path.read_text())
    worst = 0.0
    for case in document["cases"]:
        for rows, expected in zip(run(document, case), case["expected"], strict=True):
            for got, want in zip(sum(rows, []), sum(expected, []), strict=True):
                worst = max(worst, abs(got - want))
    print(f"{len(document['cases'])} cases; largest error: {worst:.1e}")
    if worst > 1e-5:
        raise SystemExit("more than 1e-5")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    (check if arguments.check else write)(arguments.file)


if __name__ == "__main__":
    main()
