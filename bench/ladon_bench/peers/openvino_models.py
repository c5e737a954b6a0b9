"""Settings of OpenVINO, and models with int8 weights, which nncf makes in three ways. With STATIC and SYMMETRIC, nncf
quantises weights and inputs, with scales from given inputs. With SYMMETRIC, no quantised input has an offset. With
DYNAMIC, nncf quantises only the weights, and OpenVINO quantises inputs at run time in groups of 32."""

import importlib.metadata
import importlib.util
import logging

import openvino

STATIC, SYMMETRIC = "nncf.quantize", "nncf.quantize, preset PERFORMANCE"
DYNAMIC = "nncf.compress_weights, dynamic groups"
HAS_NNCF = importlib.util.find_spec("nncf") is not None  # only int8 needs nncf


def versions():
    found = {"openvino": openvino.__version__.split("-")[0]}
    return found | ({"nncf": importlib.metadata.version("nncf")} if HAS_NNCF else {})


def quantised(model, way, feeds):
    import nncf

    logging.getLogger("nncf").setLevel(logging.ERROR)
    if way == DYNAMIC:
        return nncf.compress_weights(model, mode=nncf.CompressWeightsMode.INT8_SYM)
    preset = nncf.QuantizationPreset.PERFORMANCE if way == SYMMETRIC else nncf.QuantizationPreset.MIXED
    return nncf.quantize(model, nncf.Dataset(feeds), model_type=nncf.ModelType.TRANSFORMER, preset=preset)


def compiled(model, threads, way=None, feeds=(), hint="f32"):
    """Returns the compiled model. `way` is STATIC, SYMMETRIC or DYNAMIC for int8 weights. `feeds` are the inputs of
    some calls, which determine the scales of STATIC and SYMMETRIC. `hint` is the precision of products, f32 or bf16."""
    # Without INFERENCE_PRECISION_HINT, OpenVINO would compute in bfloat16 on processors with bfloat16 products.
    settings = {"INFERENCE_PRECISION_HINT": hint, "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
                "PERFORMANCE_HINT": "LATENCY", "ENABLE_CPU_PINNING": False}
    if way == DYNAMIC:
        settings["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = "32"
    if way:
        model = quantised(model, way, feeds)
    return openvino.Core().compile_model(model, "CPU", settings)
