"""An MLflow model that answers with probabilities, the decision and the reasons, as one data frame."""

from typing import Any

import mlflow
import pandas as pd

import hornbeam


class Scorer(mlflow.pyfunc.PythonModel):
    """Answers rows with a model file."""

    def load_context(self, context: Any) -> None:
        """Read the model file, which is checked before it is used."""
        self.clf = hornbeam.load(context.artifacts["model"])

    def predict(self, model_input: pd.DataFrame) -> pd.DataFrame:
        """Return a column for each class, the decision, and the reasons."""
        answers = pd.DataFrame(self.clf.predict_proba(model_input), columns=[*map(str, self.clf.classes_)])
        answers["decision"] = self.clf.predict(model_input)
        answers["reasons"] = ["; ".join(map(str, one.reasons())) for one in self.clf.explain(model_input)]
        return answers


mlflow.models.set_model(Scorer())
