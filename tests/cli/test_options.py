"""Options have the names of the parameters in Python, and mean the same in every command."""

import inspect
from collections import defaultdict
from pathlib import Path

import click
import pytest

import hornbeam
from hornbeam.cli.group import hornbeam as commands

CONTEXT = click.Context(commands)
# Words of the command line, the columns and rows of files, and what Python chooses by the class.
OF_SHELLS = {"as_json", "jobs", "memory", "output", "quiet", "weight"}
OF_FILES = {
    "decimal",
    "delimiter",
    "drop",
    "encoding",
    "groups",
    "missing_columns",
    "nominal",
    "null_value",
    "numeric",
}
OF_FIT = {"kind", "target", "test_share"}


def options(name):
    found = commands.get_command(CONTEXT, name).params
    return {option.name: option for option in found if isinstance(option, click.Option)}


def test_options_of_fit_are_parameters_of_the_estimators():
    parameters = {
        name
        for estimator in (hornbeam.TreeClassifier, hornbeam.TreeRegressor)
        for name in inspect.signature(estimator).parameters
    }
    assert set(options("fit")) - OF_SHELLS - OF_FILES - OF_FIT <= parameters


@pytest.mark.parametrize(
    ("command", "function", "others"),
    [
        ("predict", hornbeam.TreeClassifier.predict_to, set()),
        ("report", hornbeam.report, {"target", "training_weight", "models", "columns"}),
        ("model-card", hornbeam.model_card, {"target", "models", "columns"}),
        ("update", hornbeam.TreeClassifier.update, {"target"}),
        ("forget", hornbeam.TreeClassifier.forget, {"target"}),
        ("compare", hornbeam.evaluation.compare, {"target", "columns", "plot"}),
    ],
)
def test_options_of_a_command_are_parameters_of_its_function(command, function, others):
    assert set(options(command)) - OF_SHELLS - OF_FILES - others <= set(
        inspect.signature(function).parameters
    )


def test_the_guide_lists_options_that_are_no_parameters():
    guide = Path(__file__).parents[2] / "docs/guide/command-line.md"
    table = (
        guide.read_text(encoding="utf-8").partition("with these exceptions:")[2].partition("| command |")[0]
    )
    parameters = {"groups", "memory", "missing_columns"}  # of `fit` and of `scan_parquet`
    for name in ("fit", "update", "forget", "predict", "model-card", "drift", "stability"):
        for option in options(name).values():
            if option.name in (OF_SHELLS | OF_FILES | OF_FIT) - parameters:
                assert f"`{option.opts[-1]}" in table


def test_an_option_takes_the_same_in_every_command():
    taken = defaultdict(set)
    for name in commands.list_commands(CONTEXT):
        for option in options(name).values():
            if not isinstance(option.type, click.Choice):
                taken[option.opts[-1]].add((option.metavar, option.type.name, option.nargs))
    assert {name: kinds for name, kinds in taken.items() if len(kinds) > 1} == {
        "--max-depth": {("N", "integer", 1), ("N", "integer range", 1)},
        "--seed": {("N", "integer", 1), ("N", "integer range", 1)},
    }
