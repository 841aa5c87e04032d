"""What the script is given is the tree, and it cannot end its element."""

import json
from base64 import b64decode

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from random_models import random_model

from hornbeam.reporting.payload import payload, safe_json
from hornbeam.reporting.reported_model import ReportedModel


def test_probabilities_come_back_bit_for_bit_and_evidence_adds_up():
    for seed in range(12):
        tree = random_model(seed)
        nodes = json.loads(safe_json(payload(ReportedModel.of(tree), 0.9)))["nodes"]
        belief = np.frombuffer(b64decode(nodes["belief"]), "<f8").reshape(tree.belief.shape)
        assert np.array_equal(belief, tree.belief)
        total = sum(sum(own[1::2]) for own in nodes["own"])
        assert total == tree.evidence[0].sum()
        assert (nodes["share"] is None) == (not (tree.skeleton.missing_slot == -2).any())


@given(st.recursive(st.text() | st.floats(allow_nan=False, allow_infinity=False), st.lists))
def test_json_survives_and_opens_no_tag(value):
    written = safe_json(value)
    assert not set(written) & set("<>&\u2028\u2029")
    assert written.isascii()
    assert json.loads(written) == value
