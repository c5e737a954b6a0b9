"""Computes KWT-1 in float64, from samples to logits: the front end, the model, and its weights."""

import math

import numpy as np

from ladon_bench.minilm.model import read

LABELS = "_silence_ _unknown_ yes no up down left right on off stop go".split()
RATE = SAMPLES = 16000  # a window is one second
FRAME, STEP, FRAMES = 480, 160, 98  # samples in a frame, samples between two frames, frames in a window
POINTS, MELS, COEFFICIENTS = 512, 80, 40  # sizes of the DFT, the filter bank and the DCT
LOWEST, HIGHEST = 20.0, 7600.0  # limits of the filter bank in Hz
LAYERS, WIDTH = 12, 64
EPSILON = 1e-6  # of layer normalisation


def mel(frequency):
    return 1127 * np.log1p(frequency / 700)


def filter_bank():
    """Returns the filter bank [MELS][POINTS / 2]: triangles over the mel scale, without bin 0 of the DFT."""
    bins = mel(np.arange(1, POINTS // 2 + 1) * RATE / POINTS)
    edges = np.linspace(mel(LOWEST), mel(HIGHEST), MELS + 2)
    low, top, high = (edges[first:first + MELS, None] for first in range(3))
    return np.maximum(0, np.minimum((bins - low) / (top - low), (high - bins) / (high - top)))


def features(samples):
    """Returns the features [FRAMES][COEFFICIENTS] of the samples of one window."""
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / FRAME)
    frames = np.stack([samples[STEP * i:STEP * i + FRAME] for i in range(FRAMES)]) * window
    magnitudes = np.abs(np.fft.rfft(frames, POINTS))[:, 1:]
    logarithms = np.log(np.maximum(magnitudes @ filter_bank().T, 1e-12))
    angles = np.pi * np.outer(np.arange(COEFFICIENTS), np.arange(MELS) + 0.5) / MELS
    return logarithms @ (math.sqrt(2 / MELS) * np.cos(angles)).T


class Model:
    def __init__(self, path):
        self.weights = {name: array.astype(np.float64) for name, array in read(path).items()}

    def linear(self, x, name):
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def norm(self, x, name):
        centred = x - x.mean(axis=-1, keepdims=True)
        normed = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
        return normed * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def attended(self, x, layer):
        q, k, v = np.split(x @ self.weights[f"{layer}.self_attn.in_proj_weight"].T, 3, axis=1)
        scores = q @ k.T / math.sqrt(WIDTH)
        weighed = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weighed /= weighed.sum(axis=-1, keepdims=True)
        return self.linear(weighed @ v, f"{layer}.self_attn.out_proj")

    def logits(self, features):
        first = self.weights["class_token"][None]
        x = np.concatenate([first, self.linear(features, "embed")]) + self.weights["position"]
        for layer in (f"layers.{i}" for i in range(LAYERS)):
            x = self.norm(x + self.attended(x, layer), f"{layer}.norm1")
            hidden = self.linear(x, f"{layer}.linear1")
            hidden *= 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden**3)))
            x = self.norm(x + self.linear(hidden, f"{layer}.linear2"), f"{layer}.norm2")
        return self.linear(x[0], "head")
