"""From published weights to an installable model: ONNX graphs in several precisions, their proof and their manifest."""
