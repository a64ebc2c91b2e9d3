"""Arrays for the tests."""
import numpy as np


def noise(shape, dtype=np.uint8, seed=7):
    return np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)
