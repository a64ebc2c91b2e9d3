"""Tests that need a device."""
import os
import unittest

import imgpipe
import numpy as np

from made import noise


def lacks_device():
    """Why no device can be used; None if one can."""
    try:
        imgpipe.run(noise((8, 8)), device="cuda")
    except RuntimeError as error:
        return None if os.environ.get("IMGPIPE_REQUIRE_GPU") == "1" else str(error)
    return None


LACKS_DEVICE = lacks_device()


@unittest.skipIf(LACKS_DEVICE, LACKS_DEVICE)
class OnCuda(unittest.TestCase):
    def test_the_same_pixels(self):
        results = []
        for shape in [(1, 1), (37, 41, 3), (600, 500, 4), (64, 64)]:
            for dtype in (np.uint8, np.uint16):
                array = noise(shape, dtype)
                got, report = imgpipe.run(array, device="cuda")
                self.assertEqual(report["device"]["implementation"], "cuda")
                results.append((got, imgpipe.run(array, device="reference")[0]))
        for got, wanted in results:  # the results live in the device engine's memory, which has since been used again
            np.testing.assert_array_equal(got, wanted)
