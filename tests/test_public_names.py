"""Public names: each is listed, documented with an example, and imported only when used."""

import ast
import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import hornbeam

THINGS = [name for name in hornbeam.__all__ if name != "__version__"]


def test_the_public_names_are_sorted_and_without_repeats():
    assert hornbeam.__all__ == sorted(set(hornbeam.__all__))


@pytest.mark.parametrize("name", hornbeam.__all__)
def test_a_public_name_can_be_had_and_is_listed(name):
    assert getattr(hornbeam, name) is getattr(hornbeam, name)
    assert name in dir(hornbeam)


def test_type_checkers_find_each_name_where_it_is_imported_from():
    stub = ast.parse(Path(hornbeam.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    listed = {
        f"{alias.asname} {node.module}.{alias.name}"
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    modules = {"errors": "", **hornbeam._MODULES}
    assert listed == {f"{name} hornbeam{module}.{name}" for name, module in modules.items()}
    assert sorted([*modules, "__version__"]) == hornbeam.__all__


@pytest.mark.parametrize("name", THINGS)
def test_a_public_name_says_what_it_is(name):
    first_line = inspect.getdoc(getattr(hornbeam, name)).partition("\n")[0]
    assert first_line.endswith(".")


@pytest.mark.parametrize("name", [name for name in THINGS if name[0].isupper()])
def test_a_public_class_shows_an_example_that_runs(name):
    thing = getattr(hornbeam, name)
    examples = doctest.DocTestFinder(recurse=False).find(thing, name)
    assert sum(len(found.examples) for found in examples) > 0


@pytest.mark.parametrize("name", sorted({*hornbeam.errors.__all__} - {"HornbeamWarning"}))
def test_every_error_is_ours_and_also_a_builtin_one(name):
    error = getattr(hornbeam.errors, name)
    assert issubclass(error, hornbeam.errors.HornbeamError)
    assert name == "HornbeamError" or issubclass(error, ValueError | RuntimeError | ImportError)


def test_the_warning_is_a_user_s():
    assert hornbeam.errors.HornbeamWarning.__bases__ == (UserWarning,)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(AttributeError, match=r"'TreeClasifier'.*TreeClassifier"):
        hornbeam.TreeClasifier  # noqa: B018


def test_importing_hornbeam_imports_nothing_else():
    # The finder of an editable install imports modules of its own, so it is called before.
    code = (
        "import sys; [finder.find_spec('hornbeam') for finder in sys.meta_path]; before = set(sys.modules); "
        "import hornbeam; print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["hornbeam"]


def test_reading_a_tree_needs_no_scikit_learn():
    code = "import sys, hornbeam; hornbeam.Tree; print('sklearn' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_a_model_from_a_file_predicts_without_the_modules_that_fit(tmp_path):
    path = str(tmp_path / "m.hornbeam")
    hornbeam.save(hornbeam.TreeClassifier().fit([[0.0], [1.0]] * 10, [0, 1] * 10), path)
    code = (
        f"import sys, hornbeam; hornbeam.load({path!r}).predict_proba([[1.0]]); "
        "print(*(name for name in sys.modules if name.startswith('hornbeam')))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    assert "hornbeam.tree.few_rows" in loaded
    fits = (
        "recipe",
        "growing.grower",
        "growing.search",
        "tuning.cross_fitted",
        "pruning.pruner",
        "ensembles",
    )
    assert not [name for name in loaded if name.removeprefix("hornbeam.").startswith(fits)]
