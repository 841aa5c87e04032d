"""Every platform must count, smooth and calibrate this distribution, bit for bit."""

import numpy as np

from golden.test_digests import numbers
from hornbeam import TreeRegressor

DIGEST = "aebca603bb0ea3da599e929a64af7ada4a708963e31ea072f710e5d4989b08c5"


def test_the_distribution_has_the_same_bits_everywhere():
    stream = numbers(3)
    X = np.array([[next(stream) % 50 / 8 for _ in range(3)] for _ in range(300)])
    noise = np.array([(next(stream) % 21 - 10) / 4 for _ in range(300)])
    y = np.floor(X[:, 0]) * 2 + (1 + X[:, 1]) * noise * (noise > -1)
    model = TreeRegressor(distribution=True).fit(X, y)
    assert model._distribution.digest == DIGEST, "write it anew only if distributions are meant to change"
