"""Tests the parts of tools/export/ladon_export.py that need no PyTorch. export_modules.py runs the other parts."""

import json
import pathlib
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/export"))
import ladon_export


class ExportTest(unittest.TestCase):
    def test_safetensors(self):
        data = ladon_export.safetensors_bytes({"a": ("F32", (1, 2), b"12345678"), "b": ("U8", [1], b"9")})
        (length,) = struct.unpack("<Q", data[:8])
        self.assertEqual(length % 8, 0)
        header = json.loads(data[8 : 8 + length])
        self.assertEqual(header["a"], {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]})
        self.assertEqual(header["b"], {"dtype": "U8", "shape": [1], "data_offsets": [8, 9]})
        self.assertEqual(data[8 + length :], b"123456789")

    def test_call(self):
        settings = {"model": 8, "heads": 2, "bias": False, "feed_forward": 12, "activation": "gelu", "norm": "pre"}
        settings |= {"epsilon": 1e-5, "layers": 2, "final_norm": True}
        arguments = ladon_export.kernel_settings(settings, 5, "encoder.layers")
        call = ladon_export.kernel_call("one", arguments, ["a.weight", "b"])
        self.assertEqual(
            call.replace("\n ", ""),
            "ladon_add_kernel(one QUERIES 5 MODEL 8 HEADS 2 FEED_FORWARD 12 ACTIVATION gelu NORM pre EPSILON 1e-05 "
            "LAYERS 2 FINAL_NORM FEED_FORWARD_BIAS without NORM_BIAS without BIAS none PREFIX encoder.layers "
            "WEIGHTS ${CMAKE_CURRENT_LIST_DIR}/model.safetensors TENSORS a.weight b "
            "CHECK ${CMAKE_CURRENT_LIST_DIR}/sample.safetensors)\n",
        )

    def test_config(self):
        settings = {"model": 8, "heads": 2, "bias": False, "feed_forward": 12, "activation": "gelu", "norm": "pre"}
        settings |= {"epsilon": 1e-5, "layers": 2, "final_norm": True}
        steps = {"name": "x", "input": [{"step": "frames"}], "pooler": [], "head": [{"step": "apply"}]}
        (stack,) = ladon_export.config_of(settings, 5, "4.layers", steps, True)["stacks"]
        self.assertEqual(stack["final_norm"], "4.norm")
        self.assertEqual(stack["model"]["mask"], {"causal": True})
        self.assertEqual(stack["model"]["norm_bias"], "without")
        self.assertEqual(stack["input"], {"name": "x", "steps": [{"step": "frames"}]})
        self.assertEqual(stack["head"], [{"step": "apply"}])
        self.assertNotIn("pooler", stack)


if __name__ == "__main__":
    unittest.main()
