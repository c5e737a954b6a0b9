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
section = data[data.rindex(b"\x05ladon") + 6 :]  # the custom section "ladon": the description
kernel, _ = json.JSONDecoder().raw_decode(section.decode("latin1"))


def place(block):  # copies bytes to a new place, aligned to 64 bytes, and returns the address
    global top
    start = -top % 64 + top
    top = start + len(block)
    missing = top - memory.data_len(store)
    if missing > 0:
        memory.grow(store, -(-missing // 65536))
    memory.write(store, block, start)
    return start


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
