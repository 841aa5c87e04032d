"""
A report to hand on
===================

One HTML file about a tree: scores with their intervals, the tree to open and close, a form that predicts a row, the
reliability diagram, all leaves and rules. It needs no network and contains no row of the data.
"""

# sphinx_gallery_thumbnail_path = "_static/report/tree.png"  # noqa: ERA001
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from hornbeam import TreeClassifier, report

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
classifier = TreeClassifier().fit(X_train, y_train)

# %%
# As the last line of a cell the report shows itself; here it is. Its method ``save("report.html")`` writes
# the page to a file.

report(classifier, X_test, y_test, title="Is the lump benign?", date="January 2026")
