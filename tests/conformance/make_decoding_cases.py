#!/usr/bin/env python3
"""Cases of PyTorch's TransformerDecoder, a stack of two layers and a final norm, computed by PyTorch in float64.

    make_decoding_cases.py FILE

PyTorch computes the whole target at once, with a causal mask. decoding.cpp computes the target in several calls.
Needs PyTorch 1.13 or later (Debian: python3-torch). All weights are rounded to float32. FILE stores the weights in the
order of state_dict. Tensors are [length][model].
"""

import json
import pathlib
import sys

import torch

MODEL, HEADS, FEED_FORWARD, LAYERS, TARGET, MEMORY = 6, 3, 10, 2, 7, 5


def shortest(tensor):
    """Returns a float32 tensor as nested lists of short decimals, which read back as the float32 numbers."""
    if tensor.dim() > 0:
        return [shortest(part) for part in tensor]
    return float(f"{float(tensor):.9g}")


def stack(activation, norm_first):
    layer = torch.nn.TransformerDecoderLayer(MODEL, HEADS, FEED_FORWARD, dropout=0.0, activation=activation,
                                             norm_first=norm_first, batch_first=True)
    decoder = torch.nn.TransformerDecoder(layer, LAYERS, torch.nn.LayerNorm(MODEL)).eval()
    for parameter in decoder.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=parameter.shape[1] ** -0.5)
        else:
            parameter.data += 0.2 * torch.randn_like(parameter)
    return decoder


def case(name, activation, norm_first):
    decoder = stack(activation, norm_first)
    target, memory = torch.randn(TARGET, MODEL), torch.randn(MEMORY, MODEL)
    weights = {key: shortest(value.flatten()) for key, value in decoder.state_dict().items()}
    mask = torch.nn.Transformer.generate_square_subsequent_mask(TARGET)
    with torch.no_grad():
        expected = decoder.double()(target[None].double(), memory[None].double(), tgt_mask=mask.double())[0]
    return {"name": name, "activation": activation, "norm_first": norm_first, "weights": weights,
            "target": shortest(target), "memory": shortest(memory), "expected": shortest(expected)}


def main():
    torch.manual_seed(1)
    document = {"source": f"make_decoding_cases.py, PyTorch {torch.__version__}", "stack": "TransformerDecoder",
                "model": MODEL, "heads": HEADS, "feed_forward": FEED_FORWARD, "layers": LAYERS,
                "target": TARGET, "memory": MEMORY, "eps": 1e-5,
                "cases": [case("post_ln_relu", "relu", False), case("pre_ln_gelu", "gelu", True)]}
    pathlib.Path(sys.argv[1]).write_text(json.dumps(document, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
