#!/usr/bin/env python3
"""Compares equalize, median and sobel with the functions of OpenCV that docs/pixels.md names, pixel by pixel.

    filters_compare.py IMGPIPE [--device NAME]... [IMAGE]...

Made images of awkward sizes and telling contents, of 8 and of 16 bits, grey and colour, and the photographs given
(8 bits; also as 16 bits, spread over all values). Files go through the program as PGM, PPM and PNG. Without --device:
reference and cpu. Needs OpenCV and numpy. Exit 0: all equal; 1: a difference, or nothing compared; 77: OpenCV is
missing.
"""
import argparse
import os
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy as np
except ImportError:
    print("SKIPPED: OpenCV or numpy is not installed")
    sys.exit(77)

SIZES = [(1, 1), (1, 2), (2, 1), (1, 37), (41, 1), (2, 2), (3, 3), (5, 4), (4, 5), (7, 6), (16, 9), (31, 33), (64, 20),
         (65, 17), (127, 131), (257, 129), (1031, 67)]


def contents(width, height, channels, sample, seed):
    """Images by name."""
    rng = np.random.default_rng(seed)
    most = np.iinfo(sample).max
    shape = (height, width, channels)
    noise = rng.integers(0, most + 1, shape)
    y, x, c = np.indices(shape)
    yield "noise", noise
    yield "narrow", most // 3 + noise % 17
    yield "two values", np.where(noise % 3 == 0, most // 5, most // 5 * 3)
    yield "one value", np.full(shape, most // 3)
    yield "ramp", (x * 7 + y * 13 + c * 50) * (most // 255) % (most + 1)
    yield "checker", (x + y) % 2 * most
    yield "salt", np.where(noise % 11 == 0, most, np.where(noise % 11 == 1, 0, (x + y) % 50 + most // 2))


def each_plane(function):
    """The function, which takes grey, over the planes of an image."""
    return lambda image: np.dstack([function(np.ascontiguousarray(image[:, :, c])) for c in range(image.shape[2])])


def equalized(plane):
    """OpenCV's for 8 bits; its rule, which docs/pixels.md gives, for 16."""
    if plane.dtype == np.uint8:
        return cv2.equalizeHist(plane)
    counts = np.bincount(plane.ravel(), minlength=65536)
    first = int(np.flatnonzero(counts)[0])
    others = int(plane.size - counts[first])
    if others == 0:
        return plane
    scale = np.float32(65535) / np.float32(others)
    counts[first] = 0
    return np.rint(np.cumsum(counts).astype(np.float32) * scale).astype(np.uint16)[plane]


def gradient(plane, norm):
    """Of OpenCV's differences, in exact integers: the root rounded, which is never a half."""
    depth = cv2.CV_16S if plane.dtype == np.uint8 else cv2.CV_64F  # whole numbers in doubles
    dx, dy = (cv2.Sobel(plane, depth, *order, ksize=3).astype(np.int64) for order in ((1, 0), (0, 1)))
    if norm == "l1":
        size = np.abs(dx) + np.abs(dy)
    else:
        square = dx * dx + dy * dy
        size = np.sqrt(square.astype(np.float64)).astype(np.int64)
        size -= size * size > square
        size += (size + 1) ** 2 <= square
        size += square > size * size + size
    return np.minimum(size, np.iinfo(plane.dtype).max).astype(plane.dtype)


CHECKS = {
    "equalize": each_plane(equalized),
    "median": each_plane(lambda plane: cv2.medianBlur(plane, 3)),
    "median:5": each_plane(lambda plane: cv2.medianBlur(plane, 5)),
    "sobel": each_plane(lambda plane: gradient(plane, "l2")),
    "sobel:l1": each_plane(lambda plane: gradient(plane, "l1")),
}


def run(program, device, stages, source, target):
    options = ["-q", "--no-orient", "--overwrite", "--device", device, "--stages", stages]
    subprocess.run([program, source, target, *options], check=True)
    return read(target)


def read(path):
    image = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    return image[:, :, None] if image.ndim == 2 else image


def keeps_16_bits(program, folder):
    """Whether the program's 16 bits stay."""
    source, target = os.path.join(folder, "deep.pgm"), os.path.join(folder, "deep_out.pgm")
    cv2.imwrite(source, np.arange(1, 65536, 257, dtype=np.uint16).reshape(5, 51))
    return run(program, "cpu", "invert", source, target).dtype == np.uint16


class Comparison:
    def __init__(self, program, devices, folder):
        self.program, self.devices, self.folder = program, devices, folder
        self.compared = {}
        self.failed = 0

    def image(self, name, image, ending):
        source = os.path.join(self.folder, "in" + ending)
        if not cv2.imwrite(source, image):
            sys.exit(f"cannot write {source}")
        image = read(source)
        for stages, function in CHECKS.items():
            expected = function(image)
            for device in self.devices:
                got = run(self.program, device, stages, source, os.path.join(self.folder, "out" + ending))
                key = f"{stages}, {image.dtype}"
                self.compared[key] = self.compared.get(key, 0) + 1
                if got.dtype != expected.dtype or got.shape != expected.shape or (got != expected).any():
                    self.failed += 1
                    self.report(f"{stages} on {device}: {name} {ending} {image.dtype}", got, expected)

    @staticmethod
    def report(what, got, expected):
        if got.shape != expected.shape or got.dtype != expected.dtype:
            print(f"DIFFERENT: {what}: {got.shape} {got.dtype}, expected {expected.shape} {expected.dtype}")
            return
        places = np.argwhere(got != expected)
        y, x, c = places[0]
        print(f"DIFFERENT: {what}: {len(places)} samples, first x={x} y={y} c={c}: {got[y, x, c]}, "
              f"expected {expected[y, x, c]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("photographs", nargs="*")
    parser.add_argument("--device", action="append")
    parser.add_argument("--seed", type=int, default=18)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        comparison = Comparison(options.program, options.device or ["reference", "cpu"], folder)
        samples = [np.uint8]
        if keeps_16_bits(options.program, folder):
            samples.append(np.uint16)
        else:
            print("SKIPPED: 16 bits; this imgpipe writes 8")
        for sample in samples:
            for number, (width, height) in enumerate(SIZES):
                channels = 3 if number % 4 == 3 else 1
                ending = ".png" if number % 2 == 0 else ".ppm" if channels == 3 else ".pgm"
                for name, image in contents(width, height, channels, sample, options.seed + number):
                    comparison.image(f"{name} {width}x{height}x{channels}", image.astype(sample), ending)
            for path in options.photographs:
                photograph = cv2.imread(path, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
                if photograph is None:
                    sys.exit(f"cannot read {path}")
                for image in (photograph, cv2.cvtColor(photograph, cv2.COLOR_BGR2GRAY)):
                    spread = image if sample == np.uint8 else image.astype(np.uint16) * 257 - image // 3
                    comparison.image(os.path.basename(path), spread, ".png")
    for key, count in sorted(comparison.compared.items()):
        print(f"{key}: {count} compared")
    total = sum(comparison.compared.values())
    print(f"{total - comparison.failed} of {total} comparisons equal (OpenCV {cv2.__version__})")
    sys.exit(1 if comparison.failed or not total else 0)


main()
