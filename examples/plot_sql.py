"""
Predict in a database
=====================

``to_sql`` writes one SELECT, and the database predicts what ``predict_proba`` does, to the last bit. Here it is SQLite,
which comes with Python; DuckDB, PostgreSQL and others have a dialect of their own. :doc:`The guide
</guide/exports-data>` says what the query does with missing values and new categories.
"""

import sqlite3

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from hornbeam import TreeClassifier
from hornbeam.export import to_sql

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X.columns = X.columns.str.replace(" ", "_")
y = y.map({0: "malignant", 1: "benign"})
clf = TreeClassifier(max_leaf_nodes=5).fit(X[::2], y[::2])
query = to_sql(clf, table="patients", keep=["diagnosis"], dialect="sqlite")

# %%
# New patients in a table
# -----------------------
# The query becomes a view, which is a table like any other: here it is grouped by leaf.

database = sqlite3.connect(":memory:")
X[1::2].assign(diagnosis=y[1::2]).to_sql("patients", database, index=False)
database.execute("CREATE VIEW predictions AS " + query)
leaves = database.execute(
    """SELECT leaf, COUNT(*), AVG(p_malignant), AVG(diagnosis = 'malignant')
    FROM predictions GROUP BY leaf ORDER BY 3"""
).fetchall()

# %%
# The same as in Python
# ---------------------

predicted = database.execute("SELECT p_benign, p_malignant FROM predictions").fetchall()
np.array_equal(predicted, clf.predict_proba(X[1::2]))

# %%
# Predicted and observed, by leaf
# -------------------------------

node, rows, said, seen = zip(*leaves, strict=True)
place = np.arange(len(leaves))
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.bar(place - 0.2, said, 0.4, color="#2166ac", label="probability of the leaf")
ax.bar(place + 0.2, seen, 0.4, color="#d95f02", label="share among new patients")
labels = [f"leaf {leaf}\n{n} patients" for leaf, n in zip(node, rows, strict=True)]
ax.set(xticks=place, xticklabels=labels, ylabel="malignant", ylim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
plt.show()
