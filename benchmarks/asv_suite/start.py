"""What a new process waits for."""


def timeraw_import() -> str:
    """Import of the estimator, with everything below it."""
    return "from hornbeam import TreeClassifier"


def timeraw_import_over_sklearn() -> tuple[str, str]:
    """The share of it that is ours: scikit-learn is there already."""
    return "from hornbeam import TreeClassifier", "import sklearn"
