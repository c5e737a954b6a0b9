"""Makes the files of MiniLM for transformers.js from model.safetensors and vocab.txt: config, tokenizer, and the model
as ONNX in two forms. One form has plain operators, as exporters write the model. The other form has the operators of
ONNX Runtime for BERT. Each form has two files: one with float32 weights, and one with int8 weights, which
quantize_dynamic makes (dtype "q8").

to_onnx FOLDER_OF_THE_MODEL FOLDER_TO_WRITE
"""

import json
import math
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from safetensors.numpy import load_file

LAYERS, HEADS, WIDTH = 6, 12, 384
EPSILON = 1e-12
MICROSOFT = "com.microsoft"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


class Graph:
    """The nodes and constants of a graph. `op` adds an operator and returns the name of its output."""

    def __init__(self, tensors):
        self.tensors, self.nodes, self.constants = tensors, [], {}

    def constant(self, name, array):
        self.constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def tensor(self, name):
        return self.constant(name, self.tensors[name])

    def transposed(self, name):
        return self.constant(name, self.tensors[name].T)

    def integers(self, *values):
        return self.constant("integers_" + "_".join(map(str, values)), np.array(values, np.int64))

    def op(self, kind, *inputs, output=None, **attributes):
        name = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def norm_of(self, name):
        return self.tensor(f"{name}.weight"), self.tensor(f"{name}.bias")


class Plain(Graph):
    """The graph that exporters of PyTorch's layers write. ONNX Runtime fuses the operators when it loads the model."""

    def embedded(self):
        words, positions, types = (f"embeddings.{it}_embeddings.weight" for it in ("word", "position", "token_type"))
        tokens = self.op("Gather", self.op("Shape", "input_ids"), self.integers(1))
        here = self.op("Slice", self.tensor(positions), self.integers(0), tokens, self.integers(0))
        x = self.op("Add", self.op("Gather", self.tensor(words), "input_ids"),
                    self.op("Gather", self.tensor(types), "token_type_ids"))
        return self.norm(self.op("Add", x, here), "embeddings.LayerNorm")

    def hiding(self):
        """Returns the addends of scores [batch][1][1][tokens]: 0 for a token, and the lowest float for padding."""
        seen = self.op("Cast", self.op("Unsqueeze", "attention_mask", self.integers(1, 2)), to=TensorProto.FLOAT)
        hidden = self.op("Sub", self.constant("one", np.float32(1)), seen)
        return self.op("Mul", hidden, self.constant("lowest", np.finfo(np.float32).min))

    def norm(self, x, name, output=None):
        return self.op("LayerNormalization", x, *self.norm_of(name), output=output, axis=-1, epsilon=EPSILON)

    def linear(self, x, name):
        product = self.op("MatMul", x, self.transposed(f"{name}.weight"))
        return self.op("Add", product, self.tensor(f"{name}.bias"))

    def heads(self, x, order):
        return self.op("Transpose", self.op("Reshape", x, self.integers(0, 0, HEADS, WIDTH // HEADS)), perm=order)

    def attended(self, x, layer, mask):
        query, key, value = (self.linear(x, f"{layer}.attention.self.{each}") for each in ("query", "key", "value"))
        scores = self.op("MatMul", self.heads(query, [0, 2, 1, 3]), self.heads(key, [0, 2, 3, 1]))
        scaled = self.op("Div", scores, self.constant("root", np.float32(math.sqrt(WIDTH // HEADS))))
        weights = self.op("Softmax", self.op("Add", scaled, mask), axis=-1)
        seen = self.op("MatMul", weights, self.heads(value, [0, 2, 1, 3]))
        return self.op("Reshape", self.op("Transpose", seen, perm=[0, 2, 1, 3]), self.integers(0, 0, WIDTH))

    def add_and_norm(self, x, y, name, output=None):
        return self.norm(self.op("Add", self.linear(y, f"{name}.dense"), x), f"{name}.LayerNorm", output)

    def widened(self, x, name):
        return self.op("Gelu", self.linear(x, name))


class Fused(Plain):
    """The graph with ONNX Runtime's operators for BERT."""

    def hiding(self):
        return self.op("Cast", "attention_mask", to=TensorProto.INT32)

    def attended(self, x, layer, mask):
        parts = [f"{layer}.attention.self.{each}" for each in ("query", "key", "value")]
        weight = np.concatenate([self.tensors[f"{part}.weight"].T for part in parts], axis=1)
        bias = np.concatenate([self.tensors[f"{part}.bias"] for part in parts])
        return self.op("Attention", x, self.constant(f"{layer}.weight", weight), self.constant(f"{layer}.bias", bias),
                       mask, domain=MICROSOFT, num_heads=HEADS)

    def add_and_norm(self, x, y, name, output=None):
        product = self.op("MatMul", y, self.transposed(f"{name}.dense.weight"))
        return self.op("SkipLayerNormalization", product, x, *self.norm_of(f"{name}.LayerNorm"),
                       self.tensor(f"{name}.dense.bias"), output=output, domain=MICROSOFT, epsilon=EPSILON)

    def widened(self, x, name):
        product = self.op("MatMul", x, self.transposed(f"{name}.weight"))
        return self.op("BiasGelu", product, self.tensor(f"{name}.bias"), domain=MICROSOFT)


def model(graph):
    x, mask = graph.embedded(), graph.hiding()
    for index in range(LAYERS):
        layer = f"encoder.layer.{index}"
        x = graph.add_and_norm(x, graph.attended(x, layer, mask), f"{layer}.attention.output")
        wide = graph.widened(x, f"{layer}.intermediate.dense")
        x = graph.add_and_norm(x, wide, f"{layer}.output", "last_hidden_state" if index == LAYERS - 1 else None)
    extents = ["batch", "tokens"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, extents)
              for name in ("input_ids", "attention_mask", "token_type_ids")]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*extents, WIDTH])]
    made = helper.make_graph(graph.nodes, "minilm", inputs, outputs, list(graph.constants.values()))
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(made, opset_imports=opsets, ir_version=10)


def quantise(source, target):
    """Converts the weights to int8 with a scale for each output. Products of two activations stay in float32, as in the
    models that are published for transformers.js."""
    quantize_dynamic(source, target, per_channel=True, weight_type=QuantType.QInt8,
                     extra_options={"MatMulConstBOnly": True, "DefaultTensorType": TensorProto.FLOAT})


def config(tensors):
    return {"architectures": ["BertModel"], "model_type": "bert", "hidden_size": WIDTH, "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS, "intermediate_size": 4 * WIDTH, "hidden_act": "gelu",
            "layer_norm_eps": EPSILON, "pad_token_id": 0, "type_vocab_size": 2,
            "max_position_embeddings": len(tensors["embeddings.position_embeddings.weight"]),
            "vocab_size": len(tensors["embeddings.word_embeddings.weight"])}


def tokenizer(pieces):
    """Returns BERT's uncased WordPiece tokenizer in the format of the `tokenizers` library."""
    ids = {piece: index for index, piece in enumerate(pieces)}
    special = lambda piece: {"SpecialToken": {"id": piece, "type_id": 0}}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": ids[piece], "content": piece, "single_word": False, "lstrip": False, "rstrip": False,
                          "normalized": False, "special": True} for piece in SPECIAL],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, special("[SEP]")],
            "pair": [special("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, special("[SEP]"),
                     {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
            "special_tokens": {piece: {"id": piece, "ids": [ids[piece]], "tokens": [piece]}
                               for piece in ("[CLS]", "[SEP]")}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": ids}}


def main(source, target):
    tensors = load_file(source / "model.safetensors")
    pieces = (source / "vocab.txt").read_text("utf-8").removesuffix("\n").split("\n")
    names = {f"{piece.strip('[]').lower()}_token": piece for piece in SPECIAL}
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 256, **names}
    (target / "onnx").mkdir(parents=True, exist_ok=True)
    for name, form in {"model": Plain, "model_fused": Fused}.items():
        path = target / "onnx" / f"{name}.onnx"
        onnx.save(model(form(tensors)), path)
        quantise(path, path.with_stem(f"{name}_quantized"))
    for name, content in {"config": config(tensors), "tokenizer": tokenizer(pieces),
                          "tokenizer_config": settings}.items():
        (target / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
