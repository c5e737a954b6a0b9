#!/usr/bin/env python3
"""export.py FOLDER: runs the Python code of docs/pytorch.md and of the folder `code`, and writes the files that the tests
of the recipes read.

FOLDER gets a folder for each recipe, with the checkpoint and expected.safetensors. expected.safetensors contains

    x        [tokens][model]  the input of the original model
    may_see  [tokens]         which keys the mask shows; all keys, if the recipe has no such mask
    y        [tokens][model]  the output of the original model, computed in double precision and rounded to float32

Needs the packages of requirements.txt. This script wrote the stored files in tests/recipes/files.
"""

import copy
import os
import pathlib
import re
import sys

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy
import torch
from safetensors.numpy import save_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/export"))  # for ladon_export
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/pytorch.md"
TOKENS, MODEL = 6, 8
HIDDEN = 3  # a key in the middle, so that the mask is not equivalent to a length


def code_of(name):
    """Returns the Python code of a recipe in two parts: the code that makes the model, and the code that exports it."""
    file = pathlib.Path(__file__).resolve().parent / "code" / name
    if file.exists():
        code = file.read_text()
    else:
        code = re.search(rf"<!-- {re.escape(name)} -->\n```python\n(.*?)\n```", PAGE.read_text(), re.DOTALL)[1]
    before, after = re.split(r"^# After training.*\n", code, flags=re.MULTILINE)
    return before, after


def train(model):
    """Gives every parameter a random value, as training does. A fresh model has zeros, ones and equal layers, so a
    test would not notice tensors that are swapped."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            scale = 0.4 if parameter.dim() > 1 else 0.2
            offset = 1.0 if parameter.dim() == 1 and bool((parameter == 1).all()) else 0.0
            parameter.copy_(offset + scale * torch.randn(parameter.shape, generator=generator))


def export(recipe, folder):
    """Runs the code of a recipe in the folder. Returns the trained model."""
    before, after = code_of(recipe + ".py")
    names = {}
    exec(compile(before, f"{recipe}.py", "exec"), names)
    train(names["model"])
    folder.mkdir(parents=True)
    os.chdir(folder)
    exec(compile(after, f"{recipe}.py", "exec"), names)
    return names["model"]


def pytorch(model, x, may_see):
    return model.eval()(x, src_key_padding_mask=~may_see)


def bert(model, x, may_see):
    allowed = torch.where(may_see, 0.0, -torch.inf).to(x.dtype)[:, None, None, :]
    return model.eval().encoder(x, attention_mask=allowed).last_hidden_state


def keras_attention(model, x, may_see):
    return model(x, x, use_causal_mask=True)


def onnx_layer(model, x, may_see):
    return model.eval().encoder.layer[0](x)


def in_double(model):
    """Returns the model in double precision. A Keras layer is made anew, because the dtype of the layer is fixed."""
    if not isinstance(model, keras.layers.Layer):
        return copy.deepcopy(model).double()
    double = type(model).from_config(model.get_config() | {"dtype": "float64"})
    double.build((None, None, MODEL), (None, None, MODEL))
    double.set_weights(model.get_weights())
    return double


RECIPES = {"pytorch": pytorch, "bert": bert, "keras": keras_attention, "onnx": onnx_layer}


def write(recipe, folder):
    model = export(recipe, folder)
    x = torch.randn(1, TOKENS, MODEL, generator=torch.Generator().manual_seed(2))
    may_see = torch.ones(1, TOKENS, dtype=torch.bool)
    may_see[0, HIDDEN] = recipe not in ("pytorch", "bert")
    with torch.no_grad():
        y = RECIPES[recipe](in_double(model), x.double(), may_see)
    if y.dtype != torch.float64:
        raise SystemExit(f"{recipe}: y was computed in {y.dtype}")
    tensors = {
        "x": x[0].numpy(),
        "may_see": may_see[0].numpy().astype(numpy.uint8),
        "y": y[0].numpy().astype("float32"),
    }
    save_file(tensors, folder / "expected.safetensors")
    for extra in folder.rglob("*"):
        if extra.is_file() and extra.suffix != ".safetensors":
            extra.unlink()
    print(f"{recipe}: the largest number of y is {y.abs().max().item():.3g}")


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    for recipe in RECIPES:
        write(recipe, folder / recipe)


if __name__ == "__main__":
    main()
