"""Class probabilities of one tree: every smoother on three families of trees, and what others offer."""

from __future__ import annotations

from studies.families import RECIPES, family
from studies.forest import FOREST
from studies.j48 import J48
from studies.methods import settings_group
from studies.peers import CALIBRATION, YDF

from hornbeam import TreeClassifier

# Settings of the public estimator, fitted as a user would; add a line to add a method.
HORNBEAM = settings_group(
    "hornbeam",
    {
        "default": TreeClassifier,
    },
)

GROUPS = (HORNBEAM, *(family(name, recipe) for name, recipe in RECIPES.items()), CALIBRATION, FOREST, YDF, J48)
