"""Runs layers in PyTorch: its layer or its attention function, directly or compiled by torch.compile, and with linear
layers of oneDNN (torch_linear.py)."""

import warnings

import torch
from torch.nn import functional

from ladon_bench.peers import torch_linear
from ladon_bench.peers.cases import EPSILON, FEED_FORWARD
from ladon_bench.peers.protocol import serve

LAYER, FUNCTION = "torch.nn", "scaled_dot_product_attention"
COMPILED, FROZEN = "torch.compile", "torch.compile, weights frozen"
FUNCTION_ONEDNN, FROZEN_ONEDNN = f"{FUNCTION}, oneDNN", f"{FROZEN}, oneDNN"


def linear(n, x, name):
    return torch_linear.linear(x, n[f"{name}_weight"], n[f"{name}_bias"])


def layer(case, n, x):
    split = linear(n, x, "in_proj").view(1, case.tokens, 3, case.heads, case.head_width)
    q, k, v = split.permute(2, 0, 3, 1, 4)
    y = functional.scaled_dot_product_attention(q, k, v, is_causal=case.causal)
    y = linear(n, y.transpose(1, 2).reshape(case.tokens, case.model), "out_proj")
    if not case.encoder:
        return y
    norm = lambda x, name: functional.layer_norm(x, [case.model], n[f"{name}_weight"], n[f"{name}_bias"], EPSILON)
    x = norm(x + y, "norm1")
    return norm(x + linear(n, functional.relu(linear(n, x, "linear1")), "linear2"), "norm2")


class Stack(torch.nn.Module):
    """Layers whose weights torch.compile may treat as constants and convert to another layout."""

    def __init__(self, case, n, layers):
        super().__init__()
        self.case, self.layers = case, layers
        self.n = torch.nn.ParameterDict({name: torch.nn.Parameter(tensor, False) for name, tensor in n.items()})

    def forward(self, x):
        for _ in range(self.layers):
            x = layer(self.case, self.n, x)
        return x


def own_layer(case, n):
    """Returns PyTorch's layer with the weights `n`, under PyTorch's names."""
    if case.encoder:
        made = torch.nn.TransformerEncoderLayer(case.model, case.heads, FEED_FORWARD * case.model, dropout=0,
                                                batch_first=True, layer_norm_eps=EPSILON)
    else:
        made = torch.nn.MultiheadAttention(case.model, case.heads, batch_first=True)
    state = {}
    for name, tensor in n.items():
        part, _, kind = name.rpartition("_")
        prefix = "self_attn." if case.encoder and part in ("in_proj", "out_proj") else ""
        state[prefix + (name if part == "in_proj" else f"{part}.{kind}")] = tensor
    made.load_state_dict(state)
    return made.eval()


def build(case, numbers, form, layers):
    torch.set_num_threads(case.threads)
    n = {name: torch.from_numpy(array.copy()) for name, array in numbers.items()}
    x = n.pop("x")
    mask = torch.nn.Transformer.generate_square_subsequent_mask(case.tokens) if case.causal else None
    if form == LAYER:
        made = own_layer(case, n)
        batch = x[None]

        def once(x):
            if case.encoder:
                return made(x)
            return made(x, x, x, need_weights=False, attn_mask=mask, is_causal=case.causal)[0]
    else:
        batch = x
        if form == FUNCTION_ONEDNN:
            with torch.inference_mode():
                n = {name: torch_linear.by_onednn(tensor) for name, tensor in n.items()}
        once = lambda x: layer(case, n, x)

    def stack(x):
        for _ in range(layers):
            x = once(x)
        return x

    if form in (COMPILED, FROZEN, FROZEN_ONEDNN):
        frozen = form != COMPILED
        torch._inductor.config.freezing = frozen
        torch_linear.compile_for(onednn=form == FROZEN_ONEDNN)
        stack = torch.compile(Stack(case, n, layers).eval() if frozen else stack, dynamic=False)

    def call():
        with torch.inference_mode():
            return stack(batch)

    return call, lambda: call().numpy()


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    torch.set_num_interop_threads(1)
    serve("PyTorch", {"torch": torch.__version__},
          {"float32": [LAYER, FUNCTION, FUNCTION_ONEDNN, COMPILED, FROZEN, FROZEN_ONEDNN]}, build)
