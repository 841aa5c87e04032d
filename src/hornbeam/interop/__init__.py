"""Trees from scikit-learn, XGBoost, LightGBM and YDF, and trees for scikit-learn.

Read in this order:

- `imported_tree`: one tree of another library
- `input_conventions`: how the library reads rows; thresholds on float32 values as thresholds on float64 values
- `sklearn`, `xgboost`, `lightgbm`, `ydf`: one module per library
- `trusted`: the types that skops must trust
"""

from hornbeam.interop.imported_tree import ImportedTree
from hornbeam.interop.lightgbm import from_lightgbm
from hornbeam.interop.sklearn import from_sklearn, to_sklearn
from hornbeam.interop.trusted import trusted_types
from hornbeam.interop.xgboost import from_xgboost
from hornbeam.interop.ydf import from_ydf

__all__ = [
    "ImportedTree",
    "from_lightgbm",
    "from_sklearn",
    "from_xgboost",
    "from_ydf",
    "to_sklearn",
    "trusted_types",
]
