"""What is computed and measured: the cases, their numbers, and what must come out."""

import dataclasses
import zlib

import numpy as np

EPSILON = 1e-5  # of layer normalisation
FEED_FORWARD = 4  # times the model's width


@dataclasses.dataclass(frozen=True)
class Case:
    kind: str  # attention, encoder_layer
    tokens: int
    model: int
    heads: int
    mask: str  # full, causal
    threads: int = 1  # that make a call together

    @property
    def name(self):
        return f"{self.kind}/{self.tokens},{self.model},{self.heads}/{self.mask}"

    @property
    def head_width(self):
        return self.model // self.heads

    @property
    def causal(self):
        return self.mask == "causal"

    @property
    def encoder(self):
        return self.kind == "encoder_layer"

    @property
    def flops(self):
        """Those that the result needs, two a multiply-add; as support/measure.hpp counts them."""
        projections = 8 * self.tokens * self.model**2
        pairs = (2 if self.causal else 4) * self.tokens**2 * self.model
        feed_forward = 4 * FEED_FORWARD * self.tokens * self.model**2 if self.encoder else 0
        return projections + pairs + feed_forward

    @property
    def chained(self):
        """Whether a call is short enough for Python's own cost to show in it.

        Then a peer computes nine layers in one call and one in another, and a layer is an eighth of the difference.
        Not for larger ones: nine layers are nine prepared copies of their weights, which at (128, 384) leave the
        caches that one layer stays in.
        """
        return self.flops < 5e7


def numbers(case):
    """Input and weights as float32, by name, as PyTorch names and stores them: the same for everyone, of one seed."""
    random = np.random.default_rng([20260101, zlib.crc32(case.name.encode())])
    model, hidden = case.model, FEED_FORWARD * case.model
    normal = lambda deviation, *shape: random.normal(0, deviation, shape).astype(np.float32)
    # A linear map as initialisation leaves it: outputs of about unit size.
    linear = lambda name, out, into: {
        f"{name}_weight": normal(into**-0.5, out, into), f"{name}_bias": normal(0.1, out)}
    norm = lambda name: {f"{name}_weight": 1 + normal(0.1, model), f"{name}_bias": normal(0.1, model)}
    result = {"x": normal(1, case.tokens, model)} | linear("in_proj", 3 * model, model)
    result |= linear("out_proj", model, model)
    if case.encoder:
        result |= linear("linear1", hidden, model) | linear("linear2", model, hidden) | norm("norm1") | norm("norm2")
    return result


def expected(case, given, layers):
    """What so many layers with these weights, one after the other, make of x, in float64."""
    n = {name: array.astype(np.float64) for name, array in given.items()}

    def linear(x, name):
        return x @ n[f"{name}_weight"].T + n[f"{name}_bias"]

    def norm(x, name):
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        return centred / np.sqrt(variance + EPSILON) * n[f"{name}_weight"] + n[f"{name}_bias"]

    def attention(x):
        split = linear(x, "in_proj").reshape(case.tokens, 3, case.heads, case.head_width)
        q, k, v = split.transpose(1, 2, 0, 3)
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(case.head_width)
        if case.causal:
            scores[:, ~np.tri(case.tokens, dtype=bool)] = -np.inf
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        return linear((weights @ v).transpose(1, 0, 2).reshape(case.tokens, case.model), "out_proj")

    x = n["x"]
    for _ in range(layers):
        x = norm(x + attention(x), "norm1") if case.encoder else attention(x)
        if case.encoder:
            x = norm(x + linear(np.maximum(linear(x, "linear1"), 0), "linear2"), "norm2")
    return x


def write_numbers(given, path):
    """All of them in one file, for processes of any language. Gives where each lies: first number, count."""
    places, at = {}, 0
    with open(path, "wb") as file:
        for name, array in given.items():
            file.write(array.tobytes())
            places[name] = {"first": at, "shape": list(array.shape)}
            at += array.size
    return places


def read_numbers(path, places):
    everything = np.fromfile(path, dtype=np.float32)
    count = lambda shape: int(np.prod(shape))
    return {name: everything[place["first"]:place["first"] + count(place["shape"])].reshape(place["shape"])
            for name, place in places.items()}
