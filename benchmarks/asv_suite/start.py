"""What a new process waits for."""


class Import:
    """Import of the estimator with everything below it, in a process of its own each time."""

    number = 1  # a second import in the same process would cost nothing

    def timeraw_alone(self) -> str:
        return "from hornbeam import TreeClassifier"

    def timeraw_over_sklearn(self) -> tuple[str, str]:
        return "from hornbeam import TreeClassifier", "import sklearn"
