"""The exported C file: dependencies, tests, identifiers, thresholds and errors."""

import re
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_models import random_model, random_rows
from source_runners import GCC, compile_c, run_c

from hornbeam.data.schema import Feature, Kind, Schema
from hornbeam.data.table import Table
from hornbeam.errors import ExportError, ParameterError, SchemaError
from hornbeam.export import to_c
from hornbeam.export.source.c.layouts import smallest
from hornbeam.export.source.c.numbers import NUMBERS
from hornbeam.export.source.c.predictions import fixed_point
from hornbeam.export.source.c.program import Identifiers, comment, string
from hornbeam.tree import Skeleton
from hornbeam.tree.route import predict_rows, route
from hornbeam.tree.tree import Tree
from hornbeam.tree.walk import pull_up
from support.strategies import chain

nan = np.nan


def stump(threshold=0.1, missing_slot=-1):
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [threshold, nan, nan], missing_slot=[missing_slot, -1, -1])
    return Tree.raw(Schema((Feature("x"),), ("no", "yes")), skeleton, np.array([[5, 5], [4, 1], [1, 4]]))


def run_test(source, folder, name="tree"):
    """Compile the file with its test, and run it."""
    path = folder / "tree.c"
    path.write_text(source, encoding="ascii")
    program = folder / "test"
    subprocess.run([*GCC, f"-D{name.upper()}_TEST", "-o", str(program), str(path)], check=True)
    return subprocess.run([str(program)], check=False).returncode


def whole_tree(seed):
    """The first random model from `seed` on that does not send missing values to every child."""
    tree = random_model(seed)
    return whole_tree(seed + 1) if tree.skeleton.is_fractional else tree


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"layout": "table", "input": "float", "probability": "float"},
        {"layout": "bins", "input": "float", "probability": "uint8"},
        {"layout": "bins", "probability": "uint16"},
    ],
)
def test_the_file_tests_itself(options, tmp_path):
    tree = whole_tree(10)
    table = random_rows(tree, 10).slice(0, 300)
    source = to_c(tree, vectors=table, **options)
    assert run_test(source, tmp_path) == 0
    at = source.index("_test_node[]")
    digit = next(i for i in range(at + 20, len(source)) if source[i] in "123456789")
    assert run_test(source[:digit] + "0" + source[digit + 1 :], tmp_path) == 1


def test_the_file_tests_fractional_missing_values(tmp_path):
    tree = random_model(2)
    assert tree.skeleton.is_fractional
    assert run_test(to_c(tree, layout="table", vectors=random_rows(tree, 2)), tmp_path) == 0


def test_nothing_is_included_but_stdint_and_nothing_is_called(tmp_path):
    tree = random_model(2)
    for layout in ("table", "bins"):
        source = to_c(tree, layout=layout)
        assert [line for line in source.split("\n") if "#include" in line] == ["#include <stdint.h>"]
        program = compile_c(source, tmp_path, "-ffreestanding", "-nostdlib", "-fno-builtin", "-Wl,-z,defs")
        undefined = subprocess.run(
            ["nm", "-u", str(program)], capture_output=True, text=True, check=True
        ).stdout
        assert undefined.strip() == ""


def test_names_become_distinct_identifiers(tmp_path):
    features = (Feature("age (years)"), Feature("Größe"), Feature("age-years"))
    size = Feature("colour", Kind.NOMINAL, ("light blue", "light-blue", "", 3, True))
    skeleton = Skeleton.of([2, 0, 0], [0, -1, -1], [30.5, nan, nan])
    tree = Tree.raw(Schema((*features, size), ("no", "yes")), skeleton, np.array([[5, 5], [4, 1], [1, 4]]))
    source = to_c(tree)
    for line in (
        "    TREE_AGE_YEARS = 0, /* age (years) */",
        r"    TREE_GROE = 1, /* Gr\xf6\xdfe */",
        "    TREE_AGE_YEARS_2 = 2, /* age-years */",
        "    TREE_COLOUR_LIGHT_BLUE_2 = 1, /* light-blue */",
        "    TREE_COLOUR_N = 2, /*  */",
        "    TREE_CLASS_YES = 1 /* yes */",
        "    if (x[TREE_AGE_YEARS] <= 30.5) {",
    ):
        assert line in source.split("\n")
    user = '#define TREE_DECLARATIONS_ONLY\n#include "tree.c"\nint f(const double *x) { return tree_class(x); }\n'
    (tmp_path / "tree.c").write_text(source)
    compile_c(user, tmp_path)


def test_thresholds_without_a_short_exact_decimal_are_hexadecimal():
    assert "x[TREE_X] <= 0x1.999999999999ap-4 /* 0.1 */" in to_c(stump())
    assert "x[TREE_X] <= 0x1.9999980000000p-4f /* 0.099999994f */" in to_c(stump(), input="float")
    assert "x[TREE_X] <= 0.5f" in to_c(stump(0.5), input="float")
    assert "x[TREE_X] <= -3" in to_c(stump(-2.5), input="int16")


@given(st.floats(allow_nan=False), st.floats(width=32, allow_nan=False))
def test_a_threshold_rounded_to_float_gives_the_same_split(threshold, x):
    assert (x <= NUMBERS["float"].cut(threshold)) == (x <= threshold)


@given(st.floats(allow_nan=False), st.integers(-32767, 32767))
def test_a_threshold_rounded_to_integer_gives_the_same_split(threshold, x):
    assert (x <= NUMBERS["int16"].cut(threshold)) == (x <= threshold)


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=20).filter(any), st.sampled_from([255, 65535]))
def test_fixed_point_adds_up_and_is_off_by_less_than_one_part(counts, one):
    belief = np.array([counts]) / sum(counts)
    parts = fixed_point(belief, one)
    assert parts.sum() == one
    assert parts.min() >= 0
    assert np.abs(parts / one - belief).max() < 1 / one


def test_the_file_states_its_error():
    tree = Tree.raw(Schema((), ("a", "b", "c")), Skeleton.leaf(), np.array([[1, 1, 1]]))
    assert "in parts of 255, which add up: off by less than 1/255, here by 0 at most" in to_c(
        tree, probability="uint8"
    )
    assert "off by 2^-25 at most, here by 2^-26.6" in to_c(tree, probability="float")
    assert "exactly the tree's" in to_c(tree)


@pytest.mark.parametrize("layout", ["if", "table", "bins"])
@pytest.mark.parametrize("threshold", [np.inf, -np.inf, 1e308, 5e-324, -0.0])
@pytest.mark.parametrize("missing_slot", [-1, 0, 1])
def test_every_threshold_in_one_stump(layout, threshold, missing_slot, tmp_path):
    """Compile only: -Werror finds comparisons that are always true; other tests compare predictions."""
    source = [
        to_c(stump(threshold, missing_slot), layout=layout, name=f"t{i}", input=kind)
        for i, kind in enumerate(NUMBERS)
    ]
    subprocess.run([*GCC, "-fsyntax-only", "-xc", "-"], input="\n".join(source), text=True, check=True)


@pytest.mark.parametrize("layout", ["if", "table", "bins"])
def test_a_single_leaf_and_a_deep_chain(layout, tmp_path):
    schema = Schema((Feature("x"),), ("no", "yes"))
    leaf = Tree.raw(schema, Skeleton.leaf(), np.array([[1, 3]]))
    skeleton = chain(400)
    own = np.random.default_rng(0).integers(0, 9, (skeleton.n_nodes, 2))
    deep = Tree.raw(schema, skeleton, pull_up(skeleton, own))
    rows = Table(schema, (np.append(np.arange(900) / 4 - 1, nan),))
    cases = [(leaf, rows), (deep, rows)]
    for (tree, table), (node, best, p) in zip(cases, run_c(cases, tmp_path, layout=layout), strict=True):
        assert (node == route(tree.skeleton, table)).all()
        assert (p == predict_rows(tree, table)).all()
        assert (best == tree.decision(p)).all()


def spine(missing_slot, n=40):
    """A chain of splits on one feature, with missing values sent to the slot."""
    skeleton = chain(n)
    slots = np.where(skeleton.is_leaf, -1, missing_slot)
    counts = skeleton.is_leaf[:, None] * np.array([1, 3])
    fields = (skeleton.n_children, skeleton.feature, skeleton.threshold)
    return Tree.raw(
        Schema((Feature("x"),), ("no", "yes")),
        Skeleton.of(*fields, missing_slot=slots),
        pull_up(skeleton, counts),
    )


@pytest.mark.parametrize("kind", ["double", "int16"])
@pytest.mark.parametrize("missing_slot", [-1, 0, 1])
def test_every_place_is_written_once(kind, missing_slot):
    """A subtree that is written for missing values and again for large ones would double at every level."""
    tree = spine(missing_slot)
    returns = re.findall(r"return (\d+);", to_c(tree, input=kind))
    assert len(returns) == len(set(returns)) <= tree.n_nodes


def test_a_known_value_is_not_tested_again_for_missing():
    source = to_c(spine(-1), input="int16")
    assert source.count("x[TREE_X] == INT16_MIN") == 1
    assert source.count("x[TREE_X] <= ") == 40


def test_inner_nodes_where_no_row_stops_have_no_prediction():
    assert "tree_belief[41]" in to_c(spine(1))
    assert "tree_belief[41]" in to_c(spine(-1), complete=True)
    assert "tree_belief[81]" in to_c(spine(-1))
    assert "static const int8_t tree_lead" in to_c(spine(1, n=127), layout="table")


def test_few_probabilities_are_copied_without_a_call(tmp_path):
    tree = stump()
    program = compile_c(to_c(tree), tmp_path, "-O3", "-ffreestanding", "-nostdlib", "-Wl,-z,defs")
    undefined = subprocess.run(["nm", "-u", str(program)], capture_output=True, text=True, check=True).stdout
    assert undefined.strip() == ""


def test_settings_that_cannot_be_exact_raise():
    shares = stump(missing_slot=-2)
    for options in ({"layout": "if"}, {"layout": "table", "probability": "float"}):
        with pytest.raises(ExportError, match="sends missing values to every child"):
            to_c(shares, **options)
    assert "waiting" not in to_c(shares, layout="if", complete=True)
    assert "waiting[2]" in to_c(shares, layout="table")
    rows = Table.read([[0.5]], schema=stump().schema)
    with pytest.raises(ExportError, match="whole numbers between -32767 and 32767"):
        to_c(stump(), input="int16", vectors=rows)
    with pytest.raises(ExportError, match="The vectors have missing values"):
        to_c(stump(), complete=True, vectors=Table.read([[nan]], schema=stump().schema))
    with pytest.raises(SchemaError, match="X has 2 features"):
        to_c(stump(), vectors=[[0.5, 1.0]])
    with pytest.raises(SchemaError, match="other columns"):
        to_c(stump(), vectors=Table.read([[0.5]], feature_names=["other"]))


@pytest.mark.parametrize(
    "options",
    [
        {"name": "Tree"},
        {"name": "a b"},
        {"name": "x" * 21},
        {"layout": "ifs"},
        {"input": "half"},
        {"probability": "int"},
    ],
)
def test_invalid_choices_raise(options):
    with pytest.raises(ParameterError, match="expected"):
        to_c(stump(), **options)


def test_names_are_identifiers_comments_and_strings():
    names = Identifiers("TREE", ["TREE_NODES"])
    made = [names.new(name) for name in ("petal width (cm)", "petal-width, cm", "nodes", "*/")]
    assert made == ["TREE_PETAL_WIDTH_CM", "TREE_PETAL_WIDTH_CM_2", "TREE_NODES_2", "TREE_N"]
    assert comment("size */ 2") == r"size \x2a\x2f 2"
    assert string('say "hm"??/') == r'"say \042hm\042\077\077/"'
    assert [smallest(values) for values in ([0, 200], [-1, 200], [70_000])] == [
        "uint8_t",
        "int16_t",
        "uint32_t",
    ]


def test_probabilities_in_fixed_point_add_up_to_one():
    thirds = fixed_point(np.array([[1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0.0]]), 100)
    assert thirds.tolist() == [[34, 33, 33], [50, 50, 0]]
