"""Writes the weights of a trained date reader as a safetensors file. The build makes a C++ header from this file."""

import json
import struct

import torch

DECIMALS = 5

# Tensors are row-major. Their names and shapes are those of torch.nn.TransformerEncoderLayer with norm_first=True:
# projections are (out, in), and in_proj holds query, key and value one after another. The text is lower-cased. Runs of
# spaces become one space, and spaces at both ends are removed. The text stands at the end of the 40 places, and the
# places before the text are masked. A token is character[id] + position[place], or slot[i] for the i-th digit. The id
# is the index in `alphabet` + 1, or 0 for any other character. All slots share the classifier, whose last class is
# "no date".
ABOUT = """The date reader's weights: an encoder that reads 40 characters and answers in 8 slots. \
Written by: {command}. {facts} \
{count:,} parameters, rounded to {decimals} decimals. The accuracy was measured with rounded weights."""


def round_weights(model):
    """Rounds the weights in place to DECIMALS decimals."""
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.tensor([float(f"{x:.{DECIMALS}f}") + 0.0 for x in p.flatten().tolist()]).view_as(p))


def write(path, model, command, facts, alphabet, sure_enough):
    tensors = {name: tensor.float().contiguous() for name, tensor in model.state_dict().items()}
    count = sum(t.numel() for t in tensors.values())
    about = ABOUT.format(command=command, facts=" ".join(facts), count=count, decimals=DECIMALS)
    header = {"__metadata__": {"alphabet": alphabet, "sure_enough": str(sure_enough), "about": about}}
    offset = 0
    for name, tensor in tensors.items():
        end = offset + 4 * tensor.numel()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":"))
    text += " " * (-len(text) % 8)  # the tensors begin at a multiple of 8 bytes
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text.encode())
        for tensor in tensors.values():
            out.write(struct.pack(f"<{tensor.numel()}f", *tensor.flatten().tolist()))
