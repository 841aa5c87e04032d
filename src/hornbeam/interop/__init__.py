"""Trees of other libraries, and trees for them."""

from hornbeam.interop.imported_tree import ImportedTree
from hornbeam.interop.input_conventions import OTHER_CATEGORY, InputConventions
from hornbeam.interop.lightgbm import from_lightgbm
from hornbeam.interop.sklearn import from_sklearn, from_sklearn_forest, import_sklearn, to_sklearn
from hornbeam.interop.xgboost import from_xgboost
from hornbeam.interop.ydf import from_ydf

__all__ = [
    "OTHER_CATEGORY",
    "ImportedTree",
    "InputConventions",
    "from_lightgbm",
    "from_sklearn",
    "from_sklearn_forest",
    "from_xgboost",
    "from_ydf",
    "import_sklearn",
    "to_sklearn",
]
