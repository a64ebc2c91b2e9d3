"""Arrays and files for the tests."""
import re

import numpy as np


def noise(shape, dtype=np.uint8, seed=7):
    return np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


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
