"""What both forests do with a table, and say of their trees."""

from sklearn.utils.validation import check_is_fitted

from hornbeam.data.table import Table
from hornbeam.ensembles import Forest, Planted
from hornbeam.estimators.class_warning import warn_of_classes
from hornbeam.estimators.column_warnings import warn_of_columns
from hornbeam.estimators.forest_settings import planting_of
from hornbeam.estimators.progress import Progress
from hornbeam.estimators.reading import Reading
from hornbeam.estimators.threads import n_threads
from hornbeam.typing import Floats

__all__ = ["Forested"]


class Forested(Reading):
    """Plants a forest, and reads rows by its schema."""

    _fitted = "forest_"
    forest_: Forest
    n_jobs: int | None

    @property
    def feature_importances_(self) -> Floats:
        """Share of the trees' gain that is due to tests of each feature, the mean over trees that have any."""
        check_is_fitted(self, "forest_")
        return self.forest_.importance()

    def _plant(self, table: Table, progress: Progress) -> Planted:
        planting, n_jobs = planting_of(self, table), n_threads(self.n_jobs)
        warn_of_columns(table)
        if not table.schema.is_measured:
            warn_of_classes(table)
        planted = planting.fit(table, n_jobs=n_jobs, on_progress=progress.listener(planting.n_trees))
        self._remember(planted.forest, table.names)
        self.smoother_ = planted.smoother
        return planted
