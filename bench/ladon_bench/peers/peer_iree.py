"""Runs layers in IREE: the attention operator of the torch dialect, or attention from plain operators, compiled for
this processor."""

import importlib.metadata

import iree.compiler
import iree.runtime
import numpy as np

from ladon_bench.peers.cases import EPSILON
from ladon_bench.peers.protocol import score_scale, serve

FORMS = [f"{attention}, {tiling}" for attention in ("scaled_dot_product_attention", "matmul, softmax")
         for tiling in ("data tiling", "no data tiling")]
BOOL, INT, FLOAT = "!torch.bool", "!torch.int", "!torch.float"


def tensor(*shape, kind="f32"):
    return f"!torch.vtensor<[{','.join(map(str, shape))}],{kind}>"


class Module:
    """Builds a function of the torch dialect. Values have names, and `types` has the type of each value."""

    def __init__(self, case, numbers):
        self.case, self.numbers = case, numbers
        self.lines, self.types, self.named = [], {}, {}

    def value(self, kind, text):
        name = f"%v{len(self.types)}"
        self.types[name] = kind
        self.lines.append(f"{name} = {text}")
        return name

    def once(self, key, kind, text):
        if key not in self.named:
            self.named[key] = self.value(kind, text)
        return self.named[key]

    def none(self):
        return self.once("none", "!torch.none", "torch.constant.none")

    def flag(self, yes):
        return self.once(bool(yes), BOOL, f"torch.constant.bool {str(bool(yes)).lower()}")

    def integer(self, n):
        return self.once(("integer", n), INT, f"torch.constant.int {n}")

    def real(self, x):
        return self.once(("real", x), FLOAT, f"torch.constant.float {x:.17e}")

    def integers(self, *sizes):
        parts = [self.integer(n) for n in sizes]
        kinds = ", ".join(INT for _ in parts)
        return self.once(sizes, "!torch.list<int>",
                         f"torch.prim.ListConstruct {', '.join(parts)} : ({kinds}) -> !torch.list<int>")

    def constant(self, name, array):
        array = np.ascontiguousarray(array, np.float32)
        shape = "x".join(map(str, array.shape))
        kind = tensor(*array.shape)
        text = f'torch.vtensor.literal(dense<"0x{array.tobytes().hex()}"> : tensor<{shape}xf32>) : {kind}'
        return self.once(("constant", name), kind, text)

    def op(self, name, shape, *operands):
        kinds = ", ".join(self.types[each] for each in operands)
        return self.value(tensor(*shape), f"torch.aten.{name} {', '.join(operands)} : {kinds} -> {tensor(*shape)}")

    def shape(self, x):
        return [int(n) for n in self.types[x].split("[")[1].split("]")[0].split(",")]

    def linear(self, x, name, rows=slice(None)):
        weight, bias = (self.constant((f"{name}_{each}", rows.start), self.numbers[f"{name}_{each}"][rows])
                        for each in ("weight", "bias"))
        return self.op("linear", [self.case.tokens, self.shape(bias)[0]], x, weight, bias)

    def add(self, x, y):
        return self.op("add.Tensor", self.shape(x), x, y, self.integer(1))

    def norm(self, x, name):
        weight, bias = (self.constant(f"{name}_{each}", self.numbers[f"{name}_{each}"]) for each in ("weight", "bias"))
        return self.op("layer_norm", self.shape(x), x, self.integers(self.case.model), weight, bias,
                       self.real(EPSILON), self.flag(False))

    def heads(self, x):
        case = self.case
        shape = [1, case.tokens, case.heads, case.head_width]
        split = self.op("view", shape, x, self.integers(*shape))
        return self.transpose(split, 1, 2)

    def transpose(self, x, first, second):
        shape = self.shape(x)
        shape[first], shape[second] = shape[second], shape[first]
        return self.op("transpose.int", shape, x, self.integer(first), self.integer(second))

    def attention(self, x, form):
        case = self.case
        pairs = [1, case.heads, case.tokens, case.tokens]
        q, k, v = (self.heads(self.linear(x, "in_proj", slice(i * case.model, (i + 1) * case.model))) for i in range(3))
        if form.startswith("scaled"):
            y = self.op("scaled_dot_product_attention", self.shape(q), q, k, v, self.none(), self.real(0.0),
                        self.flag(case.causal), self.none(), self.flag(False))
        else:
            q = self.op("mul.Scalar", self.shape(q), q, self.real(score_scale(case)))
            scores = self.op("matmul", pairs, q, self.transpose(k, 2, 3))
            if case.causal:
                hidden = np.where(np.tri(case.tokens, dtype=bool), np.float32(0), np.float32(-np.inf))
                scores = self.add(scores, self.constant("hidden", hidden))
            weights = self.op("softmax.int", pairs, scores, self.integer(3), self.none())
            y = self.op("matmul", self.shape(v), weights, v)
        together = self.op("reshape", [case.tokens, case.model], self.transpose(y, 1, 2),
                           self.integers(case.tokens, case.model))
        return self.linear(together, "out_proj")

    def layer(self, x, form):
        y = self.attention(x, form)
        if not self.case.encoder:
            return y
        x = self.norm(self.add(x, y), "norm1")
        hidden = self.linear(x, "linear1")
        return self.norm(self.add(x, self.linear(self.op("relu", self.shape(hidden), hidden), "linear2")), "norm2")

    def text(self, form, layers):
        kind = tensor(self.case.tokens, self.case.model)
        self.types["%x"] = kind
        y = "%x"
        for _ in range(layers):
            y = self.layer(y, form)
        body = "\n  ".join([*self.lines, f"return {y} : {kind}"])
        return (f"func.func @main(%x: {kind}) -> {kind} attributes {{torch.assume_strict_symbolic_shapes}} "
                f"{{\n  {body}\n}}")


def compiled(case, numbers, form, layers):
    arguments = ["--iree-opt-level=O3", "--iree-llvmcpu-target-cpu=host"]
    if form.endswith(", no data tiling"):
        arguments += ["--iree-opt-data-tiling=false", "--iree-dispatch-creation-data-tiling=false"]
    return iree.compiler.compile_str(Module(case, numbers).text(form, layers), input_type="torch",
                                     target_backends=["llvm-cpu"], extra_args=arguments)


def build(case, numbers, form, layers):
    driver = "local-sync"  # computes in the calling thread
    if case.threads > 1:
        driver = "local-task"
        iree.runtime.flags.parse_flags(f"--task_topology_group_count={case.threads}")
    context = iree.runtime.SystemContext(config=iree.runtime.Config(driver))
    context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, compiled(case, numbers, form, layers)))
    main = context.modules.module.main
    x = iree.runtime.asdevicearray(context.config.device, numbers["x"])
    return lambda: main(x), lambda: main(x).to_host()


if __name__ == "__main__":
    serve("IREE", {name: importlib.metadata.version(name) for name in ("iree-base-compiler", "iree-base-runtime")},
          {"float32": FORMS}, build)
