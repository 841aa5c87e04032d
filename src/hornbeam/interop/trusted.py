"""The types that skops and MLflow must trust."""


def trusted_types() -> list[str]:
    """List the types that skops and MLflow must trust to load a Hornbeam estimator.

    Returns
    -------
    list of str
        For ``skops.io.load(file, trusted=...)`` and ``mlflow.sklearn.log_model(..., skops_trusted_types=...)``. Fitted
        attributes are stored in the format of `save`, and checked as by `load`.

    Examples
    --------
    >>> from hornbeam.interop import trusted_types
    >>> trusted_types()[0]
    'hornbeam.estimators.tree_classifier.TreeClassifier'
    """
    from hornbeam.estimators.persistence.codec import REGISTRY  # estimators import this package

    return [f"hornbeam.estimators.{module}.{name}" for name, (module, _) in REGISTRY.items()]
