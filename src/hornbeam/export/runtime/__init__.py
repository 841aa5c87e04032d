"""A tree for runtimes and libraries: ONNX, treelite, PMML and shap.

In reading order:

- `matrix`: rows as the float matrix that these models read
- `binary_splits`: every split as splits with two branches
- `onnx`: an ONNX model
- `onnx_operators`: its two tree operators
- `treelite`: a treelite model
- `pmml`: a PMML document
- `shap`: the arrays of `shap.TreeExplainer`
"""
