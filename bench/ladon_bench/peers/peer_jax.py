"""Runs layers in JAX with XLA's CPU back end: JAX's attention function or einsum, with weights as constants or as
arguments."""

import os

if os.environ.get("NPROC") == "1":
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np

from ladon_bench.peers.cases import EPSILON
from ladon_bench.peers.protocol import score_scale, serve

FORMS = [f"{attention}, weights {weights}" for attention in ("dot_product_attention", "einsum")
         for weights in ("constant", "given")]


def layer(case, form, n, x):
    def linear(x, name):
        return x @ n[f"{name}_weight"].T + n[f"{name}_bias"]

    def norm(x, name):
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred * jax.lax.rsqrt((centred * centred).mean(axis=-1, keepdims=True) + EPSILON)
        return scaled * n[f"{name}_weight"] + n[f"{name}_bias"]

    def attention(x):
        q, k, v = jnp.moveaxis(linear(x, "in_proj").reshape(case.tokens, 3, case.heads, case.head_width), 1, 0)
        if form.startswith("dot"):
            y = jax.nn.dot_product_attention(q, k, v, is_causal=case.causal)
        else:
            scores = jnp.einsum("qhd,khd->hqk", q * score_scale(case), k)
            if case.causal:
                scores = jnp.where(jnp.tri(case.tokens, dtype=bool), scores, -jnp.inf)
            y = jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores, axis=-1), v)
        return linear(y.reshape(case.tokens, case.model), "out_proj")

    y = attention(x)
    if not case.encoder:
        return y
    x = norm(x + y, "norm1")
    return norm(x + linear(jax.nn.relu(linear(x, "linear1")), "linear2"), "norm2")


def build(case, numbers, form, layers):
    def stack(weights, x):
        for _ in range(layers):
            x = layer(case, form, weights, x)
        return x

    given = {name: jnp.asarray(array) for name, array in numbers.items()}
    x = given.pop("x")
    if form.endswith("given"):
        compiled = jax.jit(stack).lower(given, x).compile()
        call = lambda: compiled(given, x)
    else:
        compiled = jax.jit(lambda x: stack({name: numbers[name] for name in given}, x)).lower(x).compile()
        call = lambda: compiled(x)
    return lambda: call().block_until_ready(), lambda: np.asarray(call())


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    serve("JAX", {"jax": jax.__version__, "jaxlib": jaxlib.__version__}, {"float32": FORMS}, build)
