/**
 * The ONNX files of MiniLM, which to_onnx.py writes. The keys are the names that the report prints. `dtype` is an
 * option of transformers.js.
 */
export const models = {
  "plain operators": {file: "model", dtype: "fp32", precision: "float32"},
  "BERT's own operators": {file: "model_fused", dtype: "fp32", precision: "float32"},
  "q8, plain operators": {file: "model", dtype: "q8", precision: "int8"},
  "q8, BERT's own operators": {file: "model_fused", dtype: "q8", precision: "int8"},
};

/** Takes an entry of `models`. Returns the path of its ONNX file, relative to the build folder. */
export const pathOf = ({file, dtype}) => `minilm/onnx/${file}${dtype === "q8" ? "_quantized" : ""}.onnx`;
