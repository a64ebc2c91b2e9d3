"""Rejected arguments and their errors."""
import pathlib
import unittest

import imgpipe
import numpy as np
import PIL.Image

from made import noise


class Errors(unittest.TestCase):
    def test_types_of_samples(self):
        for dtype in (np.int8, np.int16, np.uint32, np.float64, np.bool_, np.complex64, object, ">u2"):
            with self.subTest(dtype=dtype), self.assertRaisesRegex(TypeError, "uint8, numpy.uint16 or numpy.float32"):
                imgpipe.run(np.zeros((3, 3), dtype))
        with self.assertRaisesRegex(TypeError, "int64"):
            imgpipe.run([[1, 2], [3, 4]])
        array = noise((3, 4), np.uint16).astype(">u2")
        with self.assertRaises(TypeError) as raised:
            imgpipe.run(array)
        self.assertTrue(str(raised.exception).endswith(
            "got >u2; convert it with array.astype(array.dtype.newbyteorder(\"=\"))"), raised.exception)
        imgpipe.run(array.astype(array.dtype.newbyteorder("=")))

    def test_no_message_holds_the_argument(self):
        array, large = noise((8, 8)), noise((1000, 1000)).tobytes()
        file = "decode a file first with imgpipe.read"
        cases = {"bytes.*" + file: {"array": large}, "str.*" + file: {"array": "photo.jpg"},
                 "Path.*" + file: {"array": pathlib.Path("photo.jpg")}, "bytearray": {"array": bytearray(large)},
                 "NoneType": {"array": None}, "got int": {"array": 3}, "got object": {"array": object()},
                 "inhomogeneous": {"array": [[1], [1, 2]]}, "mode P;.*convert": {"array": PIL.Image.new("P", (9, 9))},
                 "mode CMYK": {"array": PIL.Image.new("CMYK", (9, 9))},
                 r"mode I; pass numpy.asarray\(image\).astype\(numpy.uint16\)": {"array": PIL.Image.new("I", (9, 9))},
                 r"mode F; pass numpy.asarray\(image\)": {"array": PIL.Image.new("F", (9, 9))},
                 "mode 1": {"array": PIL.Image.new("1", (9, 9))},
                 "stages: expected str.*a list with bytes": {"array": array, "stages": [large]},
                 "stages: expected str.*got int": {"array": array, "stages": 3},
                 "device: expected str.*bytes": {"array": array, "device": large},
                 "threads: expected int.*bytes": {"array": array, "threads": large},
                 "threads: ": {"array": array, "threads": 1 << 200}}
        for part, arguments in cases.items():
            with self.subTest(part), self.assertRaisesRegex((TypeError, ValueError), part) as raised:
                imgpipe.run(**arguments)
            self.assertLess(len(str(raised.exception)), 250)
            self.assertNotIn("\n", str(raised.exception))

    def test_shapes(self):
        for shape in [(), (3,), (3, 3, 3, 3), (3, 3, 5), (3, 3, 0), (0, 3), (3, 0), (0, 0, 3), (2, 2, 70000)]:
            with self.subTest(shape=shape), self.assertRaises(ValueError):
                imgpipe.run(np.zeros(shape, np.uint8))
        with self.assertRaisesRegex(ValueError, r"\(3, 97, 131\).*channels come first use array\.transpose\(1, 2, 0\)"):
            imgpipe.run(noise((3, 97, 131)))

    def test_what_cannot_be_meant(self):
        array = noise((8, 8))
        wrong = {"blur": {"stages": "blur"}, "device": {"device": "gpu"}, "single device": {"device": "cuda:0,1"},
                 "threads": {"threads": -2}, "missing stage name": {"stages": ""},
                 "clip": {"stages": "contrast:clip=x"}, "pixels": {"stages": "resize:100000:100000"}}
        for part, arguments in wrong.items():
            with self.subTest(part), self.assertRaisesRegex(ValueError, part) as raised:
                imgpipe.run(array, **arguments)
            self.assertNotRegex(str(raised.exception), "--(stages|device|threads)")
        with self.assertRaises(TypeError):
            imgpipe.run(array, "gray", "cpu")
        imgpipe.run(array)

    def test_nothing_is_copied_before_it_is_judged(self):
        huge = np.broadcast_to(noise((1, 1)), (1 << 22, 1 << 20))  # 4 TiB if it were not broadcast
        for stages, error in (("blur", ValueError), ("gray,no:3", ValueError), ("gray", (MemoryError, ValueError))):
            with self.subTest(stages=stages), self.assertRaises(error) as raised:
                imgpipe.run(huge, stages, device="cpu")
            self.assertNotIn("Unable to allocate", str(raised.exception))  # numpy's message
        with self.assertRaisesRegex(MemoryError, "not enough memory"):
            imgpipe.run(huge, "crop:1x1", device="cpu")

    def test_a_device_that_is_not_there(self):
        try:
            _, report = imgpipe.run(noise((8, 8)), device="cuda:99")
        except RuntimeError as error:
            self.assertNotIn("\n", str(error))
        else:
            self.fail(f"it ran on {report['device']}")
