"""Writes a BERT model (docs/pytorch.md). export.py runs this code."""

from transformers import BertConfig, BertModel

model = BertModel(BertConfig(vocab_size=32, hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
                             intermediate_size=16, max_position_embeddings=16))

# After training, or from BertModel.from_pretrained:
model.save_pretrained("bert")
