/** The forms of the model that to_onnx.py writes, and their files. */
export const models = {"plain operators": "model", "BERT's own operators": "model_fused"};
