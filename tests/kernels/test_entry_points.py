"""Every function and method of the compiled module rejects wrong arguments: no crash, no hang, no write to a copy."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from enum import Enum
from pathlib import Path

import numpy as np
import pytest

from hornbeam.kernels import _native

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from attacks import native

EXAMPLES, run = native.EXAMPLES, native.run


def bindings():
    """The signatures of each function and method of the module, by name."""
    found = {}
    for name, item in vars(_native).items():
        if hasattr(item, "__nb_signature__"):
            found[name] = item.__nb_signature__
        elif isinstance(item, type) and not issubclass(item, Enum):
            found |= {
                f"{name}.{method}": function.__nb_signature__
                for method, function in vars(item).items()
                if hasattr(function, "__nb_signature__")
            }
    return {name: [signature[0] for signature in signatures] for name, signatures in found.items()}


SIGNATURES = bindings()


def example(name, which=0, **changed):
    return EXAMPLES[name][which] | changed


def rules(**changed):
    return native.rules(**changed)


# ---- generated from the bindings


def test_every_binding_has_valid_calls():
    """A new function, method or overload needs an example in benchmarks/attacks/native.py."""
    assert set(SIGNATURES) == set(EXAMPLES)
    for name, signatures in SIGNATURES.items():
        assert len(EXAMPLES[name]) >= len(signatures), name
        named = {frozenset(re.findall(r"(\w+): ", signature)) for signature in signatures}
        for arguments in EXAMPLES[name]:
            assert set(arguments) - {"self"} in named, name


@pytest.mark.parametrize("name", EXAMPLES)
def test_valid_calls_return(name):
    for arguments in EXAMPLES[name]:
        run(name, arguments)


def edits_of(value):
    """Wrong values for one argument: of another type, order, length or range."""
    if isinstance(value, np.ndarray):
        for how in native.ARRAYS:
            yield from ({"how": how, "value": number} for number in range(12 if how == "dtype" else 2))
        for number in (-1, 1, 7, 65535, 2**31, 2**62, 2**64 - 1, -(2**63), "nan", "inf", "-inf", 1e-320):
            yield from ({"how": how, "value": number} for how in ("put", "fill"))
    yield from ({"how": "set", "value": number} for number in native.SCALARS)


def at(value, path):
    for key in path:
        value = value.arguments[key] if isinstance(value, native.NativeObject) else value[key]
    return value


@pytest.mark.parametrize("name", EXAMPLES)
def test_wrong_arguments_are_used_or_rejected(name):
    """The process survives, and only ValueError and TypeError are raised."""
    for which, arguments in enumerate(EXAMPLES[name][: len(SIGNATURES[name])]):
        for path in native.PLACES[name][which]:
            for edit in edits_of(at(arguments, path)):
                case = {"call": name, "example": which, "edits": [edit | {"at": list(path)}]}
                assert native.judge(case) is None, case


def test_random_wrong_calls_are_used_or_rejected():
    rng = np.random.default_rng(5)
    found = {native.outcome(native.draw(rng)) for _ in range(3000)}
    assert found - {"senseless"} == {"returned", "refused"}


# ---- arrays are never converted

WRITTEN = [
    ("partition", 0, "codes"),
    ("partition", 0, "label"),
    ("partition", 4, "weight"),
    ("partition", 6, "numerator"),
    ("grow", 0, "progress"),
    ("histogram", 0, "cells"),
    ("count_open", 0, "node"),
    ("BoostingRows.grow", 0, "order"),
    ("gradients_of_log_loss", 0, "gradient"),
    ("gradients_of_softmax", 0, "hessian"),
    ("add_values", 0, "scores"),
    ("count_parts", 0, "counts"),
    ("encode_uint8", 0, "out"),
    ("least_costs", 0, "least"),
    ("prune_shape", 0, "new_parent"),
    ("grow_each", 0, "codes"),
    ("grow_each", 0, "label"),
    ("rank_columns", 0, "out"),
    ("Router.fill_ends", 0, "out"),
    ("pull_up", 0, "values"),
    ("pull_up", 1, "values"),
]


@pytest.mark.parametrize("how", ["readonly", "unaligned", "bigendian"])
@pytest.mark.parametrize(("name", "which", "argument"), WRITTEN)
def test_output_arrays_are_never_copied(name, which, argument, how):
    valid = example(name, which)
    if how != "readonly" and valid[argument].itemsize == 1:
        pytest.skip("bytes have neither")
    with pytest.raises((TypeError, ValueError)):
        run(name, valid | {argument: native.edited(valid[argument], {"how": how, "value": 0})})


def test_codes_in_fortran_order_are_rejected_before_labels_move():
    valid = example("partition")
    label = valid["label"].copy()
    given = {key: native.build(value) for key, value in valid.items()} | {"label": label}
    with pytest.raises(TypeError):
        _native.partition(**given | {"codes": np.asfortranarray(valid["codes"])})
    np.testing.assert_array_equal(label, valid["label"])


def test_codes_of_other_dtypes_are_rejected():
    valid = example("check_codes")
    for codes in (valid["codes"].astype(np.int64) + 256, np.full(valid["codes"].shape, np.nan)):
        with pytest.raises(TypeError):
            run("check_codes", valid | {"codes": codes})


def test_bools_are_zero_or_one():
    cut = np.array([0, 0, 2, 0, 0], np.uint8).view(np.bool_)
    with pytest.raises(TypeError):
        run("prune_shape", example("prune_shape", cut=cut))


# ---- ranges


@pytest.mark.parametrize("name", ["grow", "histogram", "count_open", "check_codes"])
@pytest.mark.parametrize("which", [0, 1])
def test_codes_and_labels_out_of_range_are_rejected(name, which):
    valid = example(name, which)
    for argument, number in (("codes", 200), ("label", native.K)):
        wrong = valid[argument].copy()
        wrong[-1] = number
        with pytest.raises(ValueError, match="codes and labels within their ranges"):
            run(name, valid | {argument: wrong})


@pytest.mark.parametrize("n_rows", [1, 130, 1000])
def test_a_code_out_of_range_is_found_at_any_row(n_rows):
    columns = _native.Columns(np.array([4, 9, 255], np.int32), np.zeros(3, np.uint8), None, None, 2)
    label = np.zeros(n_rows, np.uint16)
    codes = np.tile(np.array([4, 9, 255], np.uint8), (n_rows, 1))
    _native.check_codes(codes, label, None, None, columns)
    for row in {0, n_rows // 2, n_rows - 1}:
        for feature, beyond in ((0, 5), (1, 10)):
            wrong = codes.copy()
            wrong[row, feature] = beyond
            with pytest.raises(ValueError, match="within their ranges"):
                _native.check_codes(wrong, label, None, None, columns)


def test_codes_of_boosting_out_of_range_are_rejected():
    codes = example("BoostingRows.__init__")["codes"].copy()
    codes[-1] = 200
    with pytest.raises(ValueError, match="codes within their ranges"):
        run("BoostingRows.__init__", example("BoostingRows.__init__", codes=codes))


@pytest.mark.parametrize(
    "wrong",
    [
        {"slot_of": np.full(5, 10**8, np.int32)},
        {"slot_of": np.full(5, -1, np.int32)},
        {"n_slots": -1},
        {"n_slots": 0},
        {"n_slots": 2**31 - 1},
    ],
)
def test_partition_needs_a_slot_for_every_row(wrong):
    with pytest.raises(ValueError, match="slot"):
        run("partition", example("partition", **wrong))


@pytest.mark.parametrize("name", ["best_split", "best_per_feature"])
@pytest.mark.parametrize("which", range(5))
def test_cells_must_add_up_to_the_evidence(name, which):
    valid = example(name, which)
    rng = np.random.default_rng(1)
    for cells in (-valid["cells"], valid["cells"] + 1, rng.integers(-(2**31), 2**31, valid["cells"].shape)):
        with pytest.raises(ValueError, match="cells that hold"):
            run(name, valid | {"cells": cells.astype(valid["cells"].dtype)})


def test_max_features_above_the_number_of_features():
    plain = run("best_split", example("best_split", rules=rules()))
    every = run("best_split", example("best_split", rules=rules(max_features=2**62)))
    assert every[:-1] == plain[:-1]


@pytest.mark.parametrize("weight", [2**62, -1])
@pytest.mark.parametrize("name", ["grow", "histogram", "count_open"])
def test_weights_beyond_64_bits_or_below_0_are_rejected(name, weight):
    with pytest.raises(ValueError, match="weights of 0 or more"):
        run(name, example(name, 2, weight=np.full(native.N, weight)))


def test_sums_beyond_64_bits_are_rejected():
    with pytest.raises(ValueError, match="numerators"):
        run("grow", example("grow", 3, numerator=np.full(native.N, 2**60)))
    with pytest.raises(ValueError, match="fit 64 bits"):
        run("target_variance", example("target_variance", 1, weight=np.full(3, 2**62)))
    with pytest.raises(ValueError, match="at most 2"):
        run("equal_bins", {"counts": np.full(3, 2**62), "max_bins": 2})
    assert _native.equal_bins(np.ones(3, np.int64), 2**62).tolist() == [0, 1]


def test_rows_of_weight_0_are_not_split():
    """No division by 0 where the total weight is 0."""
    nodes = run("grow", example("grow", 4, weight=np.zeros(native.N, np.int64)))
    assert len(nodes[0]) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"numerator_scale": np.nan},
        {"denominator_scale": np.inf},
        {"numerator": np.full(native.N, np.nan)},
        {"numerator": np.full(native.N, 1e300)},
        {"denominator": np.full(native.N, -1.0)},
        {"denominator": np.full(native.N, 2.0**60)},
        {"times": np.full(native.N, 2**31 - 1, np.int32)},
        {"times": np.full(native.N, -1, np.int32)},
    ],
)
def test_gradients_that_do_not_fit_their_bits_are_rejected(wrong):
    with pytest.raises(ValueError, match=r"scales above 0|finite numerators"):
        run("BoostingRows.grow", example("BoostingRows.grow", **wrong))


@pytest.mark.parametrize(
    "wrong",
    [
        {"unit": np.nan},
        {"unit": 0.0},
        {"ridge": np.inf},
        {"min_rows_leaf": -1},
        {"total_weight": 2**63 - 1},
        {"rows_per_step": np.nan},
    ],
)
@pytest.mark.parametrize(
    "name", ["grow", "best_split", "best_per_feature", "choose_split", "BoostingRows.grow", "target_variance"]
)
def test_rules_are_checked_where_they_are_used(name, wrong):
    valid = example(name)
    with pytest.raises(ValueError, match="rules: "):
        run(name, valid | {"rules": native.NativeObject("Rules", valid["rules"].arguments | wrong)})


def test_a_tree_tests_features_beyond_65535():
    n_features = 70_000
    columns = _native.Columns(np.full(n_features, 4, np.int32), np.zeros(n_features, np.uint8), None, None, 2)
    codes = np.zeros((3, n_features), np.uint8)
    codes[:, -1] = 0, 3, 4
    node = np.zeros(3, np.int32)
    tree = native.CODE_TREE | {"feature": native.ints(n_features - 1, -1, -1, -1, -1)}
    _native.descend(codes=codes, columns=columns, **tree, node=node, seen=1)
    assert node.tolist() == [1, 2, 2]


def test_rejected_entries_do_not_change_a_census():
    census, valid = native.build(native.CENSUS), example("Census.restore")
    found = {name: value for name, value in valid.items() if name != "self"}
    for starts in (native.longs(0, 9, 3), native.longs(0, 4, 3), native.longs(1, 2, 3)):
        with pytest.raises(ValueError, match="starts must cover the keys"):
            census.restore(**found | {"starts": starts})
    assert len(census.entries()[-1]) == 0


def test_starts_beyond_the_cells_are_rejected():
    with pytest.raises(ValueError, match="starts must cover the cells"):
        run("count_parts", example("count_parts", starts=native.longs(0, 9, 2)))


def test_children_of_two_parents_are_rejected():
    """Their cuts would be counted twice, and the heap of cuts would have a cycle."""
    shape = {"first_child": native.ints(1, 3, 3, -1, -1), "n_children": native.ints(2, 2, 2, 0, 0)}
    for name in ("weakest_links", "frontiers", "prune_shape"):
        with pytest.raises(ValueError, match="after their parent"):
            run(name, example(name) | shape)


@pytest.mark.parametrize(
    "wrong",
    [
        {"own": np.full((3, 2), 2**62)},
        {"concentration": np.inf},
        {"root_concentration": np.inf},
        {"concentration": np.nan},
        {"shape": np.inf},
        {"rate": 1e-320},
    ],
)
def test_extreme_chains_are_rejected(wrong):
    with pytest.raises(ValueError, match=r"must be from|must not be"):
        run("HdpChain.__init__", example("HdpChain.__init__", **wrong))


def test_the_sweeps_per_call_are_limited():
    with pytest.raises(ValueError, match="sweeps in a call"):
        run("HdpChain.run", example("HdpChain.run", sweeps=2**62))


# ---- objects that live on


@pytest.mark.parametrize("which", [0, 1])
def test_a_prune_sweep_keeps_a_copy_of_its_shape(which):
    given = {name: native.build(value) for name, value in native.SWEEPS[which].arguments.items()}
    sweep = _native.PruneSweep(**given)
    sweep.decide(0, 5)
    before = given["cut"].tolist(), given["value"].tolist()
    given["n_children"][0] = 2**30
    given["first_child"][:] = -(2**31)
    sweep.decide(0, 5)
    assert (given["cut"].tolist(), given["value"].tolist()) == before


def test_stacked_trees_keep_copies_of_their_arrays():
    given = {name: native.build(value) for name, value in native.TREES.items()}
    trees = _native.StackedTrees(**given)
    before = trees.probabilities(np.zeros(6))[0]
    given["parent"][:] = 2**30
    given["evidence"][:] = np.nan
    np.testing.assert_array_equal(trees.probabilities(np.zeros(6))[0], before)


def test_columns_keep_copies_of_their_arrays():
    n_codes = native.N_CODES.copy()
    arguments = native.columns(native.K).arguments | {"n_codes": n_codes}
    columns = _native.Columns(**arguments)
    n_codes[:] = 65535
    given = {name: native.build(value) for name, value in example("histogram").items()}
    _native.histogram(**given | {"columns": columns})


def at_once(work, n_threads=4):
    """Results of the same work in several threads at once."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(n_threads) as pool:
            return [future.result() for future in [pool.submit(work) for _ in range(n_threads)]]
    finally:
        sys.setswitchinterval(interval)


def test_threads_share_a_chain():
    """Sweeps exclude each other: a sweep may widen the tables of ratios that another would read."""
    own = np.array([[0, 0], [900, 300], [500, 800]])
    chain = _native.HdpChain(**native.CHAIN | {"own": own, "concentration": 500.0, "sampled": False})
    at_once(lambda: [chain.run(2, True) for _ in range(30)])
    belief, _, tables = chain.means()
    np.testing.assert_allclose(belief.sum(axis=1), 1)
    assert (tables[1:] > 32).all()


def test_threads_share_a_census():
    census, column = _native.Census(1, 100), np.arange(5000.0)
    at_once(lambda: [census.add((column[i::7],)) for i in range(7)])
    assert sum(census.entries()[-1]) == 4 * len(column)


def test_threads_share_stacked_trees():
    n = 400
    parent = (np.arange(n, dtype=np.int32) - 1) // 2
    parent[0] = -1
    evidence = np.random.default_rng(0).integers(0, 9, (n, 3)).astype(np.float64)
    trees = _native.StackedTrees(parent, evidence, evidence, None)
    strengths = [np.full(6, value) for value in (-1.0, 0.0, 1.0)]
    alone = [trees.loss(strength) for strength in strengths]

    def work():
        return [trees.loss(strength) for _ in range(20) for strength in strengths]

    for found in at_once(work):
        for i, (cost, slope) in enumerate(found):
            assert cost == alone[i % 3][0]
            np.testing.assert_array_equal(slope, alone[i % 3][1])


def test_input_arrays_may_be_unaligned():
    """As arrays in the messages of a cluster do."""
    values = native.unaligned(np.array([0.5, -1.0, 3.0]))
    assert not values.flags.aligned
    assert _native.exp(values).tolist() == _native.exp(values.copy()).tolist()
    node = EXAMPLES["best_split"][0]
    moved = node | {"cells": native.unaligned(node["cells"])}
    np.testing.assert_equal(run("best_split", moved), run("best_split", node))


class Changing:
    """Columns whose reading changes another argument of the call."""

    def __init__(self, columns, change):
        self.columns, self.change = columns, change

    def __len__(self):
        return len(self.columns)

    def __getitem__(self, at):
        self.change()
        return self.columns[at]


@pytest.mark.parametrize("argument", ["rows", "start"])
@pytest.mark.parametrize("wrong", [-1, 2**30])
def test_rows_that_change_while_columns_are_read_are_refused(argument, wrong):
    valid = {key: native.build(value) for key, value in example("Router.fill_ends").items()}
    router = valid.pop("self")
    given = valid | {"X": Changing(valid["X"], lambda: valid[argument].fill(wrong))}
    with pytest.raises((ValueError, TypeError)):
        router.fill_ends(**given)


class Released:
    """A column whose array is only alive while the kernel holds it."""

    def __init__(self, column):
        self.column = column

    def __dlpack__(self, **options):
        return self.column.copy().__dlpack__()

    def __dlpack_device__(self):
        return self.column.__dlpack_device__()


def test_columns_are_held_while_they_are_read():
    columns = np.random.default_rng(0).normal(size=(8, 60_000))
    found = []
    for items in (tuple(columns), tuple(map(Released, columns))):
        out = np.zeros((60_000, 8), np.uint16)
        found.append((*_native.rank_columns(items, np.arange(8, dtype=np.int32), out), out))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
