"""Sessions of ONNX Runtime, and ONNX models with int8 weights."""

import pathlib
import tempfile

import onnx
import onnxruntime

QUANTISED = "quantize_dynamic"


def quantised(model):
    """Returns the model with int8 weights, which have a scale for each output. Inputs are quantised at run time.

    Products of two activations stay in float32. DefaultTensorType is needed for types that ONNX cannot infer, such as
    the types of com.microsoft.Attention.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic  # takes long, and only int8 needs it

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "int8.onnx"
        quantize_dynamic(model, path, per_channel=True, weight_type=QuantType.QInt8,
                         extra_options={"MatMulConstBOnly": True, "DefaultTensorType": onnx.TensorProto.FLOAT})
        return onnx.load(path)


def session_of(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry("session.intra_op.allow_spinning", str(int(threads > 1)))
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
