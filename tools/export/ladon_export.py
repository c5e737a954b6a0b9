# SPDX-License-Identifier: Apache-2.0
"""Exports modules of PyTorch for Ladon.

    from ladon_export import export
    export(model, "folder", x)

model   a TransformerEncoder, TransformerDecoder or one of their layers, a MultiheadAttention, or an nn.Sequential with
        one TransformerEncoder. Before it: Linear, Embedding, LayerNorm, activations, Positions. Behind it: LayerNorm,
        Pool, Linear, activations
x       an input: [tokens][features], or [samples][tokens][features]. Token ids [tokens], if an Embedding is first

The folder receives:

    model.safetensors    the weights
    kernel.cmake         a call of ladon_add_kernel for the layers, with CHECK sample.safetensors
    sample.safetensors   input x and output y of the layers, computed in double precision
    config.json          the whole model, for ladon-import and ladon_add_model (not for decoders and MultiheadAttention)
    io.safetensors       input and results of the whole model, for their CHECK
"""

import copy
import json
import pathlib
import struct

try:
    import torch
except ImportError:  # the functions without torch still work
    torch = None

Module = torch.nn.Module if torch else object


class Unsupported(Exception):
    """A part of a module that Ladon lacks, or that export does not know."""


def need(condition, what):
    if not condition:
        raise Unsupported(what)


class Positions(Module):
    """Adds row t of a table to token t."""

    def __init__(self, rows, width):
        super().__init__()
        self.table = torch.nn.Parameter(0.02 * torch.randn(rows, width))

    def forward(self, x):
        return x + self.table[: x.shape[-2]]


class Pool(Module):
    """Makes one row of all tokens: `how` is mean, first, last or maximum."""

    def __init__(self, how="mean"):
        super().__init__()
        self.how = how

    def forward(self, x):
        if self.how in ("mean", "maximum"):
            return x.mean(dim=-2) if self.how == "mean" else x.amax(dim=-2)
        return x[..., 0 if self.how == "first" else -1, :]


def safetensors_bytes(tensors):
    """Returns the content of a safetensors file. `tensors` has a (dtype, shape, bytes) for each name."""
    header, end = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [end, end + len(data)]}
        end += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # aligns the data
    return struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values())


def kernel_call(name, settings, tensors=()):
    """Returns the text of a CMake call of ladon_add_kernel. A value of True stands for a flag."""
    words = [f"ladon_add_kernel({name}"]
    words += [key if value is True else f"{key} {value}" for key, value in settings.items() if value is not None]
    words += ["WEIGHTS ${CMAKE_CURRENT_LIST_DIR}/model.safetensors"]
    if tensors:
        words += ["TENSORS " + " ".join(tensors)]
    return "\n  ".join([*words, "CHECK ${CMAKE_CURRENT_LIST_DIR}/sample.safetensors)"]) + "\n"


def array(tensor):
    """Returns a tensor of PyTorch as (dtype, shape, bytes)."""
    tensor = tensor.detach().cpu().contiguous()
    names = {torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.float64: "F64"}
    names |= {torch.int64: "I64", torch.int32: "I32", torch.uint8: "U8", torch.int8: "I8", torch.bool: "BOOL"}
    need(tensor.dtype in names, f"the dtype {tensor.dtype}")
    numbers = tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor
    return names[tensor.dtype], list(tensor.shape), numbers.numpy().tobytes()


def activation_name(function):
    """Returns Ladon's name of an activation: a module or a function of PyTorch."""
    if isinstance(function, torch.nn.GELU):
        return "gelu_tanh" if function.approximate == "tanh" else "gelu"
    of = torch.nn.functional
    known = {torch.nn.ReLU: "relu", torch.nn.SiLU: "silu", torch.nn.Tanh: "tanh", of.relu: "relu", of.gelu: "gelu"}
    name = known.get(type(function)) or known.get(function)
    need(name, f"the activation {function}")
    return name


def attention_settings(attention):
    need(attention.bias_k is None and not attention.add_zero_attn, "add_bias_kv and add_zero_attn")
    return {"model": attention.embed_dim, "heads": attention.num_heads, "bias": attention.in_proj_bias is not None}


def layer_settings(layer):
    norm = layer.norm1
    need(type(norm) is torch.nn.LayerNorm, f"the norm {norm}")
    settings = attention_settings(layer.self_attn)
    need(layer.norm2.eps == norm.eps, "norms with different eps in one layer")
    if isinstance(layer, torch.nn.TransformerDecoderLayer):
        need(layer.norm3.eps == norm.eps, "norms with different eps in one layer")
    need((norm.bias is not None) == settings["bias"], "norms with biases in a layer without biases")
    settings |= {"feed_forward": layer.linear1.out_features, "activation": activation_name(layer.activation)}
    return settings | {"norm": "pre" if layer.norm_first else "post", "epsilon": norm.eps}


def stack_settings(stack):
    """Returns the settings of a TransformerEncoder or TransformerDecoder."""
    settings = layer_settings(stack.layers[0])
    for number, layer in enumerate(stack.layers):
        need(layer_settings(layer) == settings, f"layer {number} differs from layer 0")
    final = stack.norm
    if final is not None:
        need(type(final) is torch.nn.LayerNorm and final.eps == settings["epsilon"], f"the last norm {final}")
    return settings | {"layers": len(stack.layers), "final_norm": final is not None}


def kernel_settings(settings, tokens, prefix):
    """Returns the arguments of ladon_add_kernel."""
    arguments = {"QUERIES": tokens, "MODEL": settings["model"], "HEADS": settings["heads"]}
    if "layers" in settings:
        arguments |= {"FEED_FORWARD": settings["feed_forward"], "ACTIVATION": settings["activation"]}
        arguments |= {"NORM": settings["norm"], "EPSILON": f"{settings['epsilon']:g}", "LAYERS": settings["layers"]}
        arguments |= {"FINAL_NORM": True if settings["final_norm"] else None}
        if not settings["bias"]:
            arguments |= {"FEED_FORWARD_BIAS": "without", "NORM_BIAS": "without"}
    return arguments | {"BIAS": None if settings["bias"] else "none", "PREFIX": prefix or None}


def config_of(settings, tokens, prefix, steps, causal):
    """Returns a config.json of the type "ladon" (docs/import.md). `steps` has the lists input, behind, pooler and head,
    and the name of the input."""
    keys = ("layers", "model", "heads", "feed_forward", "activation", "norm")
    model = {key: settings[key] for key in keys} | {"tokens": tokens}
    if not settings["bias"]:
        model |= dict.fromkeys(("projection_bias", "output_bias", "bias", "norm_bias"), "without")
    if causal:
        model["mask"] = {"causal": True}
    stack = {"name": "encoder", "prefix": prefix, "epsilon": settings["epsilon"], "model": model}
    if settings["final_norm"]:
        stack["final_norm"] = prefix.removesuffix("layers") + "norm"
    stack["input"] = {"name": steps["name"], "steps": steps["input"]}
    stack |= {key: steps[key] for key in ("behind", "pooler", "head") if steps.get(key)}
    return {"model_type": "ladon", "stacks": [stack]}


def step_of(module, name):
    """Returns the step of a module in an nn.Sequential, or None if the module changes nothing after training."""
    kind = type(module)
    if kind in (torch.nn.Dropout, torch.nn.Identity):
        return None
    bias = {"bias": "without"} if getattr(module, "bias", None) is None else {}
    if kind is torch.nn.Linear:
        return {"step": "linear_rows", "name": name, "outputs": module.out_features} | bias
    if kind is torch.nn.LayerNorm:
        return {"step": "norm_rows", "name": name, "epsilon": module.eps} | bias
    if kind is torch.nn.Embedding:
        rows, width = module.weight.shape
        return {"step": "lookup", "table": name + ".weight", "rows": rows, "features": width}
    if kind is Positions:
        return {"step": "add_positions", "table": name + ".table", "rows": module.table.shape[0]}
    if kind is Pool:
        return {"step": "pool", "pooling": module.how}
    return {"step": "apply", "function": activation_name(module)}


def sequence_steps(model, x, tokens):
    """Returns the steps of an nn.Sequential, and the number of its TransformerEncoder."""
    numbers = [i for i, module in enumerate(model) if isinstance(module, torch.nn.TransformerEncoder)]
    need(len(numbers) == 1, "an nn.Sequential without exactly one TransformerEncoder")
    steps = {"input": [], "behind": [], "pooler": [], "head": []}
    if x.is_floating_point():
        steps["input"].append({"step": "frames", "frames": tokens, "channels": x.shape[-1]})
    part = "input"
    for number, module in enumerate(model):
        if number == numbers[0]:
            part = "behind"
            continue
        step = step_of(module, str(number))
        if type(module) is Pool:
            need(part == "behind", "a Pool that is not behind the layers, or a second Pool")
            steps["pooler"].append(step)
            part = "head"
        elif step:
            steps[part].append(step)
    return steps, numbers[0]


def run_layers(stack, x, memory, causal, hidden):
    """Computes the layers. x is [samples][tokens][features] in double precision."""
    first = stack if isinstance(stack, torch.nn.MultiheadAttention) else stack.layers[0].self_attn
    turn = (lambda t: t) if first.batch_first else (lambda t: t.transpose(0, 1))
    mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1) if causal else None
    if isinstance(stack, torch.nn.MultiheadAttention):
        y, _ = stack(turn(x), turn(x), turn(x), attn_mask=mask, key_padding_mask=hidden, need_weights=False)
    elif memory is not None:
        y = stack(turn(x), turn(memory), tgt_mask=mask, tgt_key_padding_mask=hidden)
    else:
        y = stack(turn(x), mask=mask, src_key_padding_mask=hidden)
    return turn(y)


def as_stack(model):
    """Returns a stack of one layer for a layer, whose tensors then begin with "layers.0."."""
    if isinstance(model, torch.nn.TransformerEncoderLayer):
        return torch.nn.TransformerEncoder(model, 1, enable_nested_tensor=False)
    is_decoder = isinstance(model, torch.nn.TransformerDecoderLayer)
    return torch.nn.TransformerDecoder(model, 1) if is_decoder else model


def layers_of(stack):
    """Checks the kind of a module. Returns its settings."""
    if isinstance(stack, (torch.nn.TransformerEncoder, torch.nn.TransformerDecoder)):
        return stack_settings(stack)
    need(isinstance(stack, torch.nn.MultiheadAttention), f"the module {type(stack).__name__}")
    need(stack.kdim == stack.vdim == stack.embed_dim, "kdim and vdim")
    return attention_settings(stack)


def export(model, folder, x, *, memory=None, causal=False, hidden=None, tokens=None, name="model"):
    """memory: the second input of a decoder. hidden [samples][tokens]: True where a key is hidden. tokens: the largest
    number of tokens of a call, by default that of x. name: the kernel's name. After Unsupported, nothing is written."""
    files = files_of(model, torch.as_tensor(x), memory, causal, hidden, tokens, name)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        (folder / file).write_bytes(content)


def files_of(model, x, memory, causal, hidden, tokens, name):
    """Returns the content of each file."""
    weights, model = as_stack(model).state_dict(), as_stack(copy.deepcopy(model)).eval().double()
    model.requires_grad_(True)  # without gradients, PyTorch leaves out hidden tokens
    tokens = tokens or x.shape[-2 if x.is_floating_point() else -1]
    number, steps = None, {}
    if isinstance(model, torch.nn.Sequential):
        steps, number = sequence_steps(model, x, tokens)
    steps["name"] = "input_values" if x.is_floating_point() else "input_ids"
    stack = model if number is None else model[number]
    settings = layers_of(stack)
    prefix = "" if "layers" not in settings else "layers" if number is None else f"{number}.layers"

    rows = x.double() if x.is_floating_point() else x
    given = rows = rows if rows.dim() == (3 if x.is_floating_point() else 2) else rows[None]
    for module in model[:number] if number else []:
        rows = module(rows)
    memory = None if memory is None else torch.as_tensor(memory).double().reshape(len(rows), -1, rows.shape[-1])
    y = run_layers(stack, rows, memory, causal, hidden)
    sample = {"x": rows.float(), "y": y.float()}
    arguments = kernel_settings(settings, tokens, prefix)
    if memory is not None:
        sample["memory"] = memory.float()
        arguments |= {"MEMORY": memory.shape[-2], "MASK": "none"}
    if hidden is not None:
        sample["padding"] = (~hidden).to(torch.uint8).reshape(rows.shape[:2])
    if causal or hidden is not None:
        arguments["MASK"] = " ".join(["causal"] * causal + ["padding"] * (hidden is not None))
    others = [key for key in weights if number is not None and not key.startswith(f"{number}.")]
    files = {
        "model.safetensors": safetensors_bytes({key: array(t) for key, t in weights.items()}),
        "sample.safetensors": safetensors_bytes({key: array(t) for key, t in sample.items()}),
        "kernel.cmake": kernel_call(name, arguments, others).encode(),
    }
    if "layers" not in settings or memory is not None or hidden is not None:
        return files
    steps.setdefault("input", [{"step": "frames", "frames": tokens, "channels": settings["model"]}])
    config = json.dumps(config_of(settings, tokens, prefix, steps, causal), indent=1) + "\n"
    io = {key: array(t) for key, t in results_of(model, number, steps, given, y).items()}
    return files | {"config.json": config.encode(), "io.safetensors": safetensors_bytes(io)}


def results_of(model, number, steps, given, y):
    """Returns the first sample's input and results of a whole model. The layers have computed y."""
    results, part = {"last": y}, "last"
    for module in model[number + 1 :] if number is not None else []:
        y = module(y)
        part = "pooled" if type(module) is Pool else "answer" if part in ("pooled", "answer") else "last"
        results[part] = y
    io = {"given." + steps["name"]: given[0].float() if given.is_floating_point() else given[0]}
    return io | {key: value[0].float() for key, value in results.items()}
