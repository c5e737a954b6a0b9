# SPDX-License-Identifier: Apache-2.0
"""attend.py attention_64_4.simd.wasm: computes causal attention for three tokens with a module of the npm package
(docs/modules.md). Needs wasmtime."""

import json
import math
import struct
import sys

from wasmtime import Engine, Instance, Module, Store

data = open(sys.argv[1], "rb").read()
store = Store(Engine())
exports = Instance(store, Module(store.engine, data), []).exports(store)
memory, top = exports["memory"], exports["__heap_base"].value(store)


def number(at):  # reads an unsigned LEB128 number
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


def description(at=8):  # of the custom section "ladon"
    while True:
        size, start = number(at + 1)
        at, name = start + size, data[start : start + 6]
        if name == b"\x05ladon":
            return json.loads(data[start + 6 : at])


def place(block):  # copies bytes to a new place, aligned to 64 bytes, and returns the address
    global top
    start = -top % 64 + top
    top = start + len(block)
    missing = top - memory.data_len(store)
    if missing > 0:
        memory.grow(store, -(-missing // 65536))
    memory.write(store, block, start)
    return start


kernel = description()
words = lambda numbers: place(struct.pack(f"<{len(numbers)}i", *numbers))
floats = lambda count, size: place(struct.pack(f"<{count}f", *(size * math.sin(i) for i in range(count))))
tensors = [(tensor["name"], math.prod(tensor["shape"])) for tensor in kernel["weights"]]
weights = words([floats(count, 1 if name.endswith("bias") else 0.1) for name, count in tensors])
given = {"tokens": 3, "offset": 0}  # query i sees the keys up to i + offset
options = words([given.get(option["name"], 0) for option in kernel["options"]])
x, y = floats(3 * kernel["model"], 1), floats(3 * kernel["model"], 0)
status = exports["run"](store, x, weights, y, place(bytes(kernel["workspace"])), options)
if status:
    sys.exit(f"ladon_status {status}")
print(json.dumps(struct.unpack(f"<{3 * kernel['model']}f", memory.read(store, y, y + 12 * kernel["model"]))))
