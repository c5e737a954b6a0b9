/** The forms of the model that to_onnx.py writes, and their files. `dtype` is an option of transformers.js. */
export const models = {
  "plain operators": {file: "model", dtype: "fp32", precision: "float32"},
  "BERT's own operators": {file: "model_fused", dtype: "fp32", precision: "float32"},
  "q8, plain operators": {file: "model", dtype: "q8", precision: "int8"},
  "q8, BERT's own operators": {file: "model_fused", dtype: "q8", precision: "int8"},
};

/** Returns the path of a form's file in the build. */
export const pathOf = ({file, dtype}) => `minilm/onnx/${file}${dtype === "q8" ? "_quantized" : ""}.onnx`;
