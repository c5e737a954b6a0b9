"""Writes the weights of a trained date reader as a C++ header, with one constexpr array for each tensor."""

import torch

HEAD = """// Generated, do not edit: {command}
//
// The date reader's weights: an encoder that reads 40 characters and answers in 8 slots.
{facts}
// {count} parameters, rounded to {decimals} decimals. The accuracy was measured with rounded weights.
//
// Tensors are row-major. Their names and shapes are those of torch.nn.TransformerEncoderLayer with norm_first=True:
// projections are (out, in), and in_proj holds query, key and value one after another. The text is lower-cased. Runs of
// spaces become one space, and spaces at both ends are removed. The text stands at the end of the 40 places, and the
// places before the text are masked. A token is character[id] + position[place], or slot[i] for the i-th digit. The id
// is the index in `alphabet` + 1, or 0 for any other character. All slots share the classifier, whose last class is
// "no date".
// clang-format off
#pragma once

namespace date_reader::weights {{

inline constexpr char alphabet[] = "{alphabet}";

// A text is a date only if each of its digits has at least this probability.
inline constexpr float sure_enough = {sure_enough}f;
"""
DECIMALS = 5
PER_LINE = 10


def round_weights(model):
    """Rounds the weights in place to the decimals of the header."""
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
    """Returns the name of a tensor: encoder.layers.0.self_attn.in_proj_weight becomes layer0_in_proj_weight."""
    key = key.replace("encoder.layers.", "layer").replace("encoder.norm", "final_norm")
    return key.replace("self_attn.", "").replace("character.weight", "character").replace(".", "_")
