#!/usr/bin/env python3
"""export_modules.py FOLDER: exports modules of PyTorch by tools/export/ladon_export.py, each into a folder of its own.

The test of the recipes makes a kernel of each folder, with CHECK. This script wrote the folder tests/recipes/files/export.
"""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/export"))
import ladon_export


def encoder():
    layer = nn.TransformerEncoderLayer(8, 2, 12, activation="gelu", norm_first=True, batch_first=True)
    return nn.TransformerEncoder(layer, 1, norm=nn.LayerNorm(8), enable_nested_tensor=False)


def modules():
    """Returns the name, the module and the other arguments of `export` for each folder."""
    x, memory = torch.randn(2, 5, 8), torch.randn(2, 7, 8)
    hidden = torch.zeros(2, 5, dtype=torch.bool)
    hidden[0, 1] = hidden[1, 4] = True
    classifier = nn.Sequential(
        nn.Linear(6, 8),
        nn.ReLU(),
        ladon_export.Positions(9, 8),
        nn.Dropout(),
        encoder(),
        ladon_export.Pool(),
        nn.Linear(8, 3),
    )
    return [
        ("encoder_layer", nn.TransformerEncoderLayer(8, 2, 12, bias=False), {"x": x, "hidden": hidden}),
        (
            "decoder",
            nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 4, 12), 1),
            {"x": x, "memory": memory, "causal": True},
        ),
        ("attention", nn.MultiheadAttention(8, 2, batch_first=True), {"x": x, "tokens": 6}),
        ("classifier", classifier, {"x": torch.randn(2, 9, 6)}),
    ]


def main():
    torch.manual_seed(1)
    for name, module, arguments in modules():
        with torch.no_grad():
            for parameter in module.parameters():  # a fresh module has zeros, ones and equal layers
                parameter.add_(0.2 * torch.randn_like(parameter))
        ladon_export.export(module, pathlib.Path(sys.argv[1]) / name, name="torch_" + name, **arguments)
    try:
        ladon_export.export(nn.Sequential(nn.Conv1d(3, 3, 1), encoder()), "refused", torch.randn(2, 9, 6))
    except ladon_export.Unsupported as error:
        print(f"refused: {error}")
    else:
        raise SystemExit("a convolution was not refused")


if __name__ == "__main__":
    main()
