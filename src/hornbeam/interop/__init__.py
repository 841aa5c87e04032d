"""Trees of other libraries, and trees for them."""

from hornbeam.interop.graft import Graft
from hornbeam.interop.lightgbm import from_lightgbm
from hornbeam.interop.reading import OTHER, Reading
from hornbeam.interop.sklearn import from_sklearn, from_sklearn_forest, graft_sklearn, to_sklearn
from hornbeam.interop.xgboost import from_xgboost
from hornbeam.interop.ydf import from_ydf

__all__ = [
    "OTHER",
    "Graft",
    "Reading",
    "from_lightgbm",
    "from_sklearn",
    "from_sklearn_forest",
    "from_xgboost",
    "from_ydf",
    "graft_sklearn",
    "to_sklearn",
]
