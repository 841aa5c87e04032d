"""A tree for runtimes and libraries: ONNX, treelite, PMML and shap.

In reading order:

- `matrix`: rows as the float matrix that these models read
- `binary_splits`: every split as splits with two branches
- `onnx`: an ONNX model
- `onnx_operators`: its operators for trees, and for slopes in leaves
- `skl2onnx`: the converter of skl2onnx for pipelines with a tree
- `treelite`: a treelite model
- `pmml`: a PMML document
- `shap`: the arrays of `shap.TreeExplainer`
"""
