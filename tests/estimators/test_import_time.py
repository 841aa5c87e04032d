"""Importing TreeClassifier imports scikit-learn's base and Hornbeam, and no frame library."""

import subprocess
import sys

CODE = """
import sys
import scipy.sparse, sklearn.base
try:
    import sklearn.callback
except ImportError:
    pass
paid_anyway = set(sys.modules)
import hornbeam
print(*(set(sys.modules) - paid_anyway))
from hornbeam import TreeClassifier
print(*(set(sys.modules) - paid_anyway))
"""


def test_the_classifier_imports_no_other_package():
    run = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    window, shell = (set(line.split()) for line in run.stdout.splitlines())
    assert window == {"hornbeam"}
    assert "hornbeam.estimators.tree_classifier" in shell
    assert {name.partition(".")[0] for name in shell} - set(sys.stdlib_module_names) == {"hornbeam"}
