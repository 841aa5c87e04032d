"""Every platform must count, smooth and calibrate this distribution, bit for bit."""

import numpy as np
import pytest

from golden.test_digests import numbers
from hornbeam import ForestRegressor, TreeRegressor

OF_FOREST = "97ae2a4279f4282eb0e9bed28d6e59ed14790c649070005dbf2ebfcfb4397ab4"
DIGEST = "aebca603bb0ea3da599e929a64af7ada4a708963e31ea072f710e5d4989b08c5"


def rows():
    stream = numbers(3)
    X = np.array([[next(stream) % 50 / 8 for _ in range(3)] for _ in range(300)])
    noise = np.array([(next(stream) % 21 - 10) / 4 for _ in range(300)])
    y = np.floor(X[:, 0]) * 2 + (1 + X[:, 1]) * noise * (noise > -1)
    return X, y


@pytest.mark.parametrize(
    ("model", "digest"), [(TreeRegressor(), DIGEST), (ForestRegressor(10), OF_FOREST)], ids=["tree", "forest"]
)
def test_the_distribution_has_the_same_bits_everywhere(model, digest):
    found = model.set_params(distribution=True).fit(*rows())._distribution.digest
    assert found == digest, "write it anew only if distributions are meant to change"
