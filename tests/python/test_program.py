"""The module against the program, byte for byte."""
import os
import subprocess
import tempfile
import unittest

import imgpipe
import numpy as np
from PIL import Image

from made import noise, read_netpbm, write_netpbm

PROGRAM = os.environ["IMGPIPE_PROGRAM"]
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
STAGES = ["gray,hist,contrast,smooth", "contrast:clip=0.5:stretch=each,smooth:gauss", "gray:opencv,equalize",
          "median,flip:vertical", "resize:31:17,sharpen", "contrast:to=16,gamma:2.2", "gray"]


class AgainstTheProgram(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def program(self, source, target, stages):
        options = ["--stages", stages, "--device", "cpu", "-q", "--overwrite"]
        subprocess.run([PROGRAM, source, target, *options], check=True)

    def test_eight_bits_through_png(self):
        for channels, mode in MODES.items():
            for size in [(1, 1), (1, 37), (41, 1), (5, 5), (67, 129)]:
                array = noise(size + (channels,) if channels > 1 else size)
                path, out = (os.path.join(self.directory.name, name) for name in ("in.png", "out.png"))
                Image.fromarray(array, mode).save(path)
                for stages in STAGES:
                    if "to=16" in stages:  # Pillow reduces 16-bit colour to 8 bits
                        continue
                    with self.subTest(size=size, channels=channels, stages=stages):
                        self.program(path, out, stages)
                        with Image.open(out) as image:
                            wanted = np.asarray(image)
                        got, report = imgpipe.run(array, stages, device="cpu")
                        np.testing.assert_array_equal(got, wanted)
                        self.assertEqual((got.dtype, got.shape), (wanted.dtype, wanted.shape))
                        self.assertTrue(got.flags.c_contiguous and got.flags.writeable)
                        self.assertEqual(report["output"]["width"], got.shape[1])

    def test_sixteen_bits_through_netpbm(self):
        for channels in (1, 3):
            for size in [(1, 1), (3, 29), (64, 65)]:
                array = noise(size + (channels,) if channels > 1 else size, np.uint16)
                path, out = (os.path.join(self.directory.name, name) for name in ("in.pnm", "out.ppm"))
                write_netpbm(path, array)
                for stages in STAGES + ["depth:8"]:
                    with self.subTest(size=size, channels=channels, stages=stages):
                        got, report = imgpipe.run(array, stages, device="reference")
                        out = os.path.join(self.directory.name, "out.pgm" if got.ndim == 2 else "out.ppm")
                        self.program(path, out, stages)
                        np.testing.assert_array_equal(got, read_netpbm(out))
                        self.assertEqual(got.dtype, np.uint8 if stages == "depth:8" else np.uint16)
                        self.assertEqual(report["output"]["bits_per_sample"], 8 * got.itemsize)

    def test_tensors_through_npy(self):
        array = noise((7, 5, 3))
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        path, out = (os.path.join(directory.name, name) for name in ("in.png", "out.npy"))
        Image.fromarray(array, "RGB").save(path)
        for dtype in ("float32", "float16"):
            for layout, sides in {"nchw": (3, 7, 5), "nhwc": (7, 5, 3)}.items():
                with self.subTest(dtype=dtype, layout=layout):
                    stages = f"normalize:clip:dtype={dtype}:layout={layout}"
                    self.program(path, out, stages)
                    wanted = np.load(out)
                    got, _ = imgpipe.run(array, stages, device="cpu")
                    self.assertEqual((wanted.dtype, wanted.shape), (np.dtype(dtype), sides))
                    self.assertEqual((got.dtype, got.shape), (wanted.dtype, wanted.shape))
                    self.assertTrue(got.flags.c_contiguous)
                    self.assertEqual(got.tobytes(), wanted.tobytes())

    def test_the_version_is_the_programs(self):
        shown = subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, text=True).stdout
        version = imgpipe.__version__.replace(".dev0+g", "-dev+").replace(".dev0", "-dev")  # no commit without Git
        self.assertTrue(shown.startswith(f"imgpipe {version}\n"), shown)
