"""prepare TOKENS,MODEL,HEADS FOLDER: writes the files that each library loads at its start.

Prints the installed libraries as JSON: name, versions, and the bytes of their packages.
"""

import importlib.metadata
import json
import pathlib
import sys

import numpy as np

from ladon_bench.peers.cases import Case, expected, numbers

# For each library that first.py can start: the library's name in the tables, and the packages that the library needs
# besides numpy.
LIBRARIES = {"onnxruntime": ("ONNX Runtime", ["onnxruntime"]), "openvino": ("OpenVINO", ["openvino"]),
             "litert": ("LiteRT (XNNPACK)", ["ai-edge-litert"]), "iree": ("IREE", ["iree-base-runtime"]),
             "jax": ("JAX", ["jax", "jaxlib"]), "torch": ("PyTorch", ["torch"])}


def bytes_of(package):
    files = importlib.metadata.files(package) or []
    return sum(path.stat().st_size for path in map(lambda file: file.locate(), files) if path.is_file())


def onnxruntime(case, given, folder):
    from ladon_bench.peers import peer_onnxruntime as peer

    _, model = peer.Graph(case, given).model(peer.CONTRIB_MULTI_HEAD, 1)
    (folder / "model.onnx").write_bytes(model.SerializeToString())


def openvino(case, given, folder):
    import openvino as library
    from ladon_bench.peers import peer_openvino as peer

    library.save_model(peer.model(case, given, peer.FORMS[0], 1), folder / "model.xml", compress_to_fp16=False)


def litert(case, given, folder):
    from ladon_bench.peers import peer_litert as peer

    (folder / "model.tflite").write_bytes(peer.Model(case, given).stack(peer.ONE, 1))


def iree(case, given, folder):
    from ladon_bench.peers import peer_iree as peer

    (folder / "model.vmfb").write_bytes(peer.compiled(case, given, peer.FORMS[0], 1))


def main():
    tokens, model, heads = map(int, sys.argv[1].split(","))
    folder = pathlib.Path(sys.argv[2])
    case = Case("attention", tokens, model, heads, "full")
    given = numbers(case)
    np.save(folder / "wanted.npy", expected(case, given, 1))
    for name, array in given.items():
        np.save(folder / f"{name}.npy", array)
    with open(folder / "numbers", "wb") as file:  # for Ladon, in the order of start.c
        for name in ("in_proj_weight", "in_proj_bias", "out_proj_weight", "out_proj_bias", "x"):
            file.write(given[name].tobytes())
    (folder / "shape.json").write_text(json.dumps({"tokens": tokens, "model": model, "heads": heads}))
    found = {}
    for key, (name, packages) in LIBRARIES.items():
        try:
            versions = {package: importlib.metadata.version(package) for package in packages}
            if write := globals().get(key):
                write(case, given, folder)
        except Exception as error:  # a library with any error is left out
            print(f"start: {name} is left out: {error}", file=sys.stderr)
            continue
        found[key] = {"name": name, "versions": versions, "bytes": sum(map(bytes_of, packages))}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
