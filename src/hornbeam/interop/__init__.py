"""Trees from scikit-learn, XGBoost, LightGBM and YDF, and trees for scikit-learn.

Read in this order:

- `imported_tree`: one tree of another library
- `input_conventions`: how the library reads rows; thresholds on float32 values as thresholds on float64 values
- `sklearn`, `xgboost`, `lightgbm`, `ydf`: one module per library
"""

from hornbeam.interop.lightgbm import from_lightgbm
from hornbeam.interop.sklearn import from_sklearn, from_sklearn_forest, to_sklearn
from hornbeam.interop.xgboost import from_xgboost
from hornbeam.interop.ydf import from_ydf

__all__ = [
    "from_lightgbm",
    "from_sklearn",
    "from_sklearn_forest",
    "from_xgboost",
    "from_ydf",
    "to_sklearn",
]
