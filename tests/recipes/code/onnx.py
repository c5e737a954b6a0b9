"""Writes the weights of a BERT layer in an ONNX file under BERT's names (docs/pytorch.md). export.py runs this code."""

import numpy
import onnx
import torch
from safetensors.numpy import save_file
from transformers import BertConfig, BertModel

model = BertModel(BertConfig(vocab_size=32, hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
                             intermediate_size=16, max_position_embeddings=16)).eval()

# After training:
torch.onnx.export(model.encoder.layer[0], (torch.zeros(1, 6, 8),), "layer.onnx")

graph = onnx.load("layer.onnx").graph
constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
consumers = {name: node for node in graph.node for name in node.input}
products = [node for node in graph.node if node.op_type == "MatMul" and node.input[1] in constants]
norms = [node for node in graph.node if node.op_type == "LayerNormalization"]
parts = ["self.query", "self.key", "self.value", "output.dense"]
names = ["attention." + part for part in parts] + ["intermediate.dense", "output.dense"]
tensors = {}
for name, node in zip(names, products, strict=True):
    tensors[name + ".weight"] = constants[node.input[1]].T
    tensors[name + ".bias"] = next(constants[i] for i in consumers[node.output[0]].input if i in constants)
for name, node in zip(["attention.output.LayerNorm", "output.LayerNorm"], norms, strict=True):
    tensors[name + ".weight"], tensors[name + ".bias"] = (constants[i] for i in node.input[1:])
save_file({name: numpy.ascontiguousarray(values) for name, values in tensors.items()}, "layer.safetensors")
