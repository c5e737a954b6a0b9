"""first.py LIBRARY FOLDER: computes the first result of a library in a new process.

prepare.py makes FOLDER. Prints the time of each step in seconds of the system's monotonic clock. Writes the result to
FOLDER/output.
"""

import time

started = time.monotonic()

import json
import sys


def onnxruntime(folder):
    import numpy as np
    import onnxruntime as library

    yield "imported"
    options = library.SessionOptions()
    options.intra_op_num_threads = 1
    session = library.InferenceSession(f"{folder}/model.onnx", options, providers=["CPUExecutionProvider"])
    yield "loaded"
    yield session.run(None, {"x": np.load(f"{folder}/x.npy")})[0]


def openvino(folder):
    import numpy as np
    import openvino as library

    yield "imported"
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY"}
    compiled = library.Core().compile_model(f"{folder}/model.xml", "CPU", settings)
    yield "loaded"
    yield compiled(np.load(f"{folder}/x.npy"))[0]


def litert(folder):
    import numpy as np
    from ai_edge_litert.interpreter import Interpreter

    yield "imported"
    interpreter = Interpreter(model_path=f"{folder}/model.tflite", num_threads=1)
    interpreter.allocate_tensors()
    yield "loaded"
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], np.load(f"{folder}/x.npy"))
    interpreter.invoke()
    yield interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def iree(folder):
    import iree.runtime as library
    import numpy as np

    yield "imported"
    context = library.SystemContext(config=library.Config("local-sync"))
    context.add_vm_module(library.VmModule.mmap(context.instance, f"{folder}/model.vmfb"))
    yield "loaded"
    yield context.modules.module.main(np.load(f"{folder}/x.npy")).to_host()


def weights(folder):
    import numpy as np

    with open(f"{folder}/shape.json") as file:
        shape = json.load(file)
    return shape, {name: np.load(f"{folder}/{name}.npy") for name in
                   ("in_proj_weight", "in_proj_bias", "out_proj_weight", "out_proj_bias", "x")}


def jax(folder):
    import jax as library
    import jax.numpy as jnp
    import numpy as np

    yield "imported"
    shape, given = weights(folder)

    def attention(n, x):
        packed = x @ n["in_proj_weight"].T + n["in_proj_bias"]
        q, k, v = jnp.moveaxis(packed.reshape(shape["tokens"], 3, shape["heads"], -1), 1, 0)
        y = library.nn.dot_product_attention(q, k, v).reshape(x.shape)
        return y @ n["out_proj_weight"].T + n["out_proj_bias"]

    x = given.pop("x")
    compiled = library.jit(attention).lower(given, x).compile()
    yield "loaded"
    yield np.asarray(compiled(given, x))


def torch(folder):
    import torch as library

    yield "imported"
    library.set_num_threads(1)
    shape, given = weights(folder)
    x = library.from_numpy(given.pop("x"))[None]
    made = library.nn.MultiheadAttention(shape["model"], shape["heads"], batch_first=True).eval()
    made.load_state_dict({name.replace("out_proj_", "out_proj."): library.from_numpy(array)
                          for name, array in given.items()})
    yield "loaded"
    with library.inference_mode():
        yield made(x, x, x, need_weights=False)[0][0].numpy()


def main():
    library, folder = sys.argv[1:]
    stamps = {"started": started}
    for step in globals()[library](folder):
        if isinstance(step, str):
            stamps[step] = time.monotonic()
    stamps["first"] = time.monotonic()
    print(json.dumps(stamps), flush=True)
    step.astype("float32").tofile(f"{folder}/output")


if __name__ == "__main__":
    main()
