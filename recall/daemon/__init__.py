"""The resident process: it holds the model and the index in memory and answers over the wire."""
