"""
Is the tree as good as other models?
====================================

Six measurements of 569 tumours; half of the rows fit three models, the other half compares them. Above: how much each
model differs from the tree, with 90 % intervals of the paired differences. Below: whether probabilities are observed
shares, and what alerts are worth at each threshold.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from hornbeam import ForestClassifier, TreeClassifier
from hornbeam.evaluation import compare

cancer = load_breast_cancer(as_frame=True)
y = cancer.target.map({0: "malignant", 1: "benign"})
X = cancer.data.iloc[:, :6]
models = {
    "tree": TreeClassifier(),
    "naive Bayes": GaussianNB(),
    "forest": ForestClassifier(50, random_state=0),
}
p = {name: model.fit(X[::2], y[::2]).predict_proba(X[1::2]) for name, model in models.items()}
compare(y[1::2], p, positive="malignant", costs={("malignant", "benign"): 10}).plot()
plt.show()
