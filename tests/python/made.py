"""Arrays, stages and files for the tests."""
import io
import random
import re

import numpy as np
import PIL.Image

SHAPES = [(1, 1), (1, 7, 3), (7, 1, 4), (13, 17), (31, 29, 2), (64, 48, 3), (5, 257, 3)]
STEPS = ["gray", "rgb", "invert", "smooth", "smooth:gauss:reflect", "contrast:clip=0.5", "flip:vertical", "rotate:90",
         "gamma:1.8", "resize:31:17:bicubic", "resize:50%:area", "equalize", "median", "sharpen:0.7:1.2", "posterize:3",
         "erode", "pad:300x300:#204060", "flatten:navy"]
LAST = ["", "normalize:mean=0.5:std=0.25", "normalize:imagenet:layout=nhwc:dtype=float16", "depth:float"]


def noise(shape, dtype=np.uint8, seed=7):
    return np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def random_stages(rng: random.Random):
    steps = rng.sample(STEPS, rng.randint(0, 3)) + [rng.choice(LAST)]
    return ",".join(step for step in steps if step) or "none"


def encoded(array, kind="PNG", **options):
    """The bytes of a file with these pixels, written by Pillow."""
    file = io.BytesIO()
    PIL.Image.fromarray(array).save(file, kind, **options)
    return file.getvalue()


def write_netpbm(path, array):
    """Writes 16-bit grey or colour as PGM or PPM (as netpbm's pages define them), because Pillow writes only grey."""
    kind = b"P5" if array.ndim == 2 else b"P6"
    with open(path, "wb") as file:
        file.write(kind + b"\n%d %d\n65535\n" % array.shape[1::-1] + array.astype(">u2").tobytes())


def read_netpbm(path):
    with open(path, "rb") as file:
        whole = file.read()
    kind, width, height, most = re.match(rb"(P[56])\s(?:#.*\n)*(\d+) (\d+)\s(\d+)\s", whole).groups()
    sides = (int(height), int(width), 3) if kind == b"P6" else (int(height), int(width))
    stored, dtype = (">u2", np.uint16) if int(most) > 255 else ("u1", np.uint8)
    samples = np.frombuffer(whole[-np.prod(sides) * np.dtype(stored).itemsize:], stored)
    return samples.astype(dtype).reshape(sides)
