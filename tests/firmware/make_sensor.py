#!/usr/bin/env python3
"""make_sensor.py FOLDER: trains a classifier of movements with PyTorch, and exports it for ladon-import.

A sample has 32 measurements of 3 axes, and one of 10 classes. FOLDER receives the model (config.json, model.safetensors,
io.safetensors), samples.bin with 100 samples of float32 numbers, and answers.txt with the class of each, which PyTorch
computes in double precision. This script wrote tests/firmware/sensor.
"""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/export"))
from ladon_export import Pool, Positions, export

CLASSES, FRAMES, AXES, WIDTH, SAMPLES = 10, 32, 3, 16, 100


def movements(count):
    """Returns samples and their classes: each class has a frequency and an axis."""
    classes = torch.randint(CLASSES, (count,))
    time = torch.arange(FRAMES) + 32 * torch.rand(count, 1)
    waves = torch.sin(time * (0.2 + 0.15 * classes[:, None]))
    x = 0.2 * torch.randn(count, FRAMES, AXES)
    x[torch.arange(count), :, classes % AXES] += waves
    return x, classes


def classifier():
    layer = nn.TransformerEncoderLayer(WIDTH, 2, 32, dropout=0.0, activation="gelu", norm_first=True, batch_first=True)
    return nn.Sequential(
        nn.Linear(AXES, WIDTH),
        Positions(FRAMES, WIDTH),
        nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(WIDTH)),
        Pool("mean"),
        nn.Linear(WIDTH, CLASSES),
    )


def main():
    torch.manual_seed(1)
    folder = pathlib.Path(sys.argv[1])
    model = classifier()
    optimiser = torch.optim.Adam(model.parameters(), 5e-3)
    for step in range(500):
        x, classes = movements(64)
        loss = nn.functional.cross_entropy(model(x), classes)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    x, classes = movements(SAMPLES)
    export(model, folder, x[:1], name="sensor")
    for file in ("sample.safetensors", "kernel.cmake"):
        (folder / file).unlink()
    # With gradients, as during the training: without them, PyTorch 1.13 takes another way that gives other results.
    logits = model.eval().double()(x.double()).detach()
    first, second = logits.topk(2).values.T
    answers = logits.argmax(-1)
    print(f"loss {loss:.3f}, {(answers == classes).sum()} of {SAMPLES} right, smallest margin {(first - second).min():.4f}")
    (folder / "samples.bin").write_bytes(x.numpy().tobytes())
    (folder / "answers.txt").write_text("".join(f"{answer}\n" for answer in answers.tolist()))


if __name__ == "__main__":
    main()
