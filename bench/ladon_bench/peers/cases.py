"""The measured cases: their input and weights, and their expected results."""

import dataclasses
import zlib

import numpy as np

EPSILON = 1e-5  # the epsilon of layer normalisation
FEED_FORWARD = 4  # the width of the feed-forward network, divided by the model's width


@dataclasses.dataclass(frozen=True)
class Case:
    kind: str  # attention, encoder_layer
    tokens: int
    model: int
    heads: int
    mask: str  # full, causal
    threads: int = 1  # number of threads that compute a call together
    precision: str = "float32"  # float32 or int8: of the weights of linear layers, and of their products

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
        """Returns the flops that the result needs, two for each multiply-add, counted as in support/measure.hpp."""
        projections = 8 * self.tokens * self.model**2
        pairs = (2 if self.causal else 4) * self.tokens**2 * self.model
        feed_forward = 4 * FEED_FORWARD * self.tokens * self.model**2 if self.encoder else 0
        return projections + pairs + feed_forward

    @property
    def chained(self):
        """Returns True if a call is so short that Python's overhead affects the measurement.

        In a chained case, a peer computes nine layers in one call and one layer in another call. The time of a layer is
        an eighth of the difference. Larger cases are not chained: nine layers need nine prepared copies of the weights.
        At (128, 384), one copy fits into the caches, but nine copies do not fit.
        """
        return self.flops < 5e7


def numbers(case):
    """Returns the input and the weights as float32, with PyTorch's names and layouts. All peers get equal numbers."""
    random = np.random.default_rng([20260101, zlib.crc32(case.name.encode())])
    model, hidden = case.model, FEED_FORWARD * case.model
    normal = lambda deviation, *shape: random.normal(0, deviation, shape).astype(np.float32)
    # With weights of standard deviation 1 / sqrt(into), the outputs of a linear map have about the variance of its
    # inputs.
    linear = lambda name, out, into: {
        f"{name}_weight": normal(into**-0.5, out, into), f"{name}_bias": normal(0.1, out)}
    norm = lambda name: {f"{name}_weight": 1 + normal(0.1, model), f"{name}_bias": normal(0.1, model)}
    result = {"x": normal(1, case.tokens, model)} | linear("in_proj", 3 * model, model)
    result |= linear("out_proj", model, model)
    if case.encoder:
        result |= linear("linear1", hidden, model) | linear("linear2", model, hidden) | norm("norm1") | norm("norm2")
    return result


def expected(case, given, layers):
    """Returns the result of `layers` layers with these weights, one after the other, for x, in float64."""
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
    """Writes all numbers into one file, for processes in any language. Returns the place of each array in the file: its
    first number and its shape."""
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
