"""Writes a trained date reader as a C++ header of constexpr arrays, one for each tensor."""

import torch

HEAD = """// Generated, do not edit: {command}
//
// The date reader's weights: an encoder that reads 40 characters and answers in 8 slots.
{facts}
// {count} parameters, rounded to {decimals} decimals (and measured so).
//
// Tensors are row-major and named, shaped and used as in torch.nn.TransformerEncoderLayer with
// norm_first=True: projections are (out, in), in_proj holds query, key and value one after another.
// The text is lower-cased, runs of spaces become one and those at its ends go. It stands at the end
// of the 40 places, and those before it are masked. A token is character[id] + position[place], or
// slot[i] for the i-th digit; the id is the index in `alphabet` + 1, and 0 for any other character.
// The classifier is shared by the slots; its last class is "no date".
// clang-format off
#pragma once

namespace date_reader::weights {{

inline constexpr char alphabet[] = "{alphabet}";

// A text is a date only where each of its digits has at least this probability.
inline constexpr float sure_enough = {sure_enough}f;
"""
DECIMALS = 5
PER_LINE = 10


def round_weights(model):
    """Rounds the weights in place to what the header will hold."""
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.tensor([float(_literal(x)) for x in p.flatten().tolist()]).view_as(p))


def write(path, model, command, facts, alphabet, sure_enough):
    tensors = {_name(key): tensor for key, tensor in model.state_dict().items()}
    count = f"{sum(t.numel() for t in tensors.values()):,}"
    facts = "\n".join("// " + line for line in facts)
    with open(path, "w") as out:
        out.write(
            HEAD.format(
                command=command,
                facts=facts,
                count=count,
                decimals=DECIMALS,
                alphabet=alphabet,
                sure_enough=sure_enough,
            )
        )
        for name, tensor in tensors.items():
            size = " * ".join(str(n) for n in tensor.shape)
            out.write(f"\ninline constexpr float {name}[{size}] = {{\n")
            values = [_literal(x) + "f" for x in tensor.flatten().tolist()]
            for i in range(0, len(values), PER_LINE):
                out.write("  " + ", ".join(values[i : i + PER_LINE]) + ",\n")
            out.write("};\n")
        out.write("\n}  // namespace date_reader::weights\n")


def _literal(x):
    text = f"{x:.{DECIMALS}f}".rstrip("0")
    return "0.0" if text in ("-0.", "0.") else text + "0" * text.endswith(".")


def _name(key):
    """encoder.layers.0.self_attn.in_proj_weight becomes layer0_in_proj_weight, and so on."""
    key = key.replace("encoder.layers.", "layer").replace("encoder.norm", "final_norm")
    return key.replace("self_attn.", "").replace("character.weight", "character").replace(".", "_")
