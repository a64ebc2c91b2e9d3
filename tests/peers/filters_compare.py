#!/usr/bin/env python3
"""Compares equalize, clahe, median, sobel and box with OpenCV's functions named in docs/pixels.md, pixel by pixel, and
gauss and sharpen with OpenCV's in doubles, from which rounding may make them differ a little.

    filters_compare.py IMGPIPE [--device NAME]... [IMAGE]...

Uses generated images of awkward sizes and contents, of 8 and 16 bits, grey and colour, and the given photographs
(8 bits; also as 16 bits, spread over all values). Files go through the program as PGM, PPM and PNG. Without --device:
reference and cpu. Needs OpenCV and numpy. Exit 0: all equal; 1: a difference, or nothing compared; 77: OpenCV is
missing.
"""
import argparse
import math
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
    """(name, image) pairs."""
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
    """Applies a function of grey images to each plane of an image."""
    return lambda image: np.dstack([function(np.ascontiguousarray(image[:, :, c])) for c in range(image.shape[2])])


def equalized(plane):
    """OpenCV's result for 8 bits; its rule, as in docs/pixels.md, for 16."""
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
    """The norm of OpenCV's differences, in exact integers; a root is rounded, and is never a half."""
    depth = cv2.CV_16S if plane.dtype == np.uint8 else cv2.CV_64F  # integers, held exactly in doubles
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


def boxed(radius):
    """OpenCV's sums, which are exact in doubles, rounded once."""
    size, pixels = (2 * radius + 1, 2 * radius + 1), (2 * radius + 1) ** 2

    def mean(plane):
        sums = cv2.boxFilter(plane.astype(np.float64), -1, size, normalize=False,
                             borderType=cv2.BORDER_REFLECT_101)
        return ((2 * sums.astype(np.int64) + pixels) // (2 * pixels)).astype(plane.dtype)
    return each_plane(mean)


def blur(radius):
    """OpenCV's own mean: sums times a rounded 1 / pixels."""
    size = (2 * radius + 1, 2 * radius + 1)
    return each_plane(lambda plane: cv2.blur(plane, size, borderType=cv2.BORDER_REFLECT_101))


def blurred(plane, sigma, border):
    """OpenCV's blur in doubles, with as many weights as ours."""
    size = 2 * math.ceil(3 * sigma) + 1
    return cv2.GaussianBlur(plane.astype(np.float64), (size, size), sigma, borderType=border)


def rounded(values, plane):
    return np.clip(np.floor(values + 0.5), 0, np.iinfo(plane.dtype).max).astype(plane.dtype)


def gauss(sigma, border=cv2.BORDER_REFLECT_101):
    return each_plane(lambda plane: rounded(blurred(plane, sigma, border), plane))


def sharpened(amount, sigma):
    return each_plane(lambda plane: rounded(
        plane + amount * (plane - blurred(plane, sigma, cv2.BORDER_REFLECT_101)), plane))


def adaptive(clip, tiles):
    return each_plane(lambda plane: cv2.createCLAHE(clip, (tiles, tiles)).apply(plane))


def middle(size):
    """OpenCV's medians, or for 16 bits, which it has only up to 5x5, those of sorted windows."""
    def of_plane(plane):
        if plane.dtype == np.uint8 or size <= 5:
            return cv2.medianBlur(plane, size)
        padded = np.pad(plane, size // 2, mode="edge")
        windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size))
        return np.stack([np.partition(row.reshape(len(row), -1), size * size // 2)[:, size * size // 2]
                         for row in windows])
    return each_plane(of_plane)


CHECKS = {
    "equalize": each_plane(equalized),
    "clahe": adaptive(2.0, 8),
    "clahe:40": adaptive(40.0, 8),
    "clahe:0:3": adaptive(0.0, 3),
    "clahe:3.7:1": adaptive(3.7, 1),
    "clahe:clip=0.01:tiles=2": adaptive(0.01, 2),
    "clahe:2.5:16": adaptive(2.5, 16),
    **{f"median:{size}": middle(size) for size in range(3, 16, 2)},
    "sobel": each_plane(lambda plane: gradient(plane, "l2")),
    "sobel:l1": each_plane(lambda plane: gradient(plane, "l1")),
    "box:1:reflect": blur(1),
    "box:radius=2:border=reflect": blur(2),
    "box:5:reflect": blur(5),
    "box:40:reflect": boxed(40),
    "box:126:reflect": boxed(126),
    "box:127:reflect": boxed(127),
}
# Inexact stages, with the maximum difference in levels of 8 and of 16 bits.
CLOSE = {
    "box:radius=40:border=reflect": (blur(40), 1, 1),
    "box:radius=127:border=reflect": (blur(127), 1, 1),
    "gauss:0.3": (gauss(0.3), 1, 2),
    "gauss:1": (gauss(1), 1, 2),
    "gauss:2.5:replicate": (gauss(2.5, cv2.BORDER_REPLICATE), 1, 8),
    "gauss:12": (gauss(12), 1, 8),
    "gauss:40": (gauss(40), 1, 8),
    "sharpen": (sharpened(1, 1), 1, 3),
    "sharpen:2.5:3": (sharpened(2.5, 3), 2, 8),
}


def run(program, device, stages, source, target):
    options = ["-q", "--no-orient", "--overwrite", "--device", device, "--stages", stages]
    subprocess.run([program, source, target, *options], check=True)
    return read(target)


def read(path):
    image = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    return image[:, :, None] if image.ndim == 2 else image


def keeps_16_bits(program, folder):
    """Whether the program keeps 16 bits."""
    source, target = os.path.join(folder, "deep.pgm"), os.path.join(folder, "deep_out.pgm")
    cv2.imwrite(source, np.arange(1, 65536, 257, dtype=np.uint16).reshape(5, 51))
    return run(program, "cpu", "invert", source, target).dtype == np.uint16


class Comparison:
    def __init__(self, program, devices, folder):
        self.program, self.devices, self.folder = program, devices, folder
        self.compared, self.most = {}, {}
        self.failed = 0

    def image(self, name, image, ending):
        source = os.path.join(self.folder, "in" + ending)
        if not cv2.imwrite(source, image):
            sys.exit(f"cannot write {source}")
        image = read(source)
        exact = [(stages, function, 0) for stages, function in CHECKS.items()]
        close = [(stages, function, narrow if image.dtype == np.uint8 else wide)
                 for stages, (function, narrow, wide) in CLOSE.items()]
        for stages, function, most in exact + close:
            expected = function(image)
            for device in self.devices:
                got = run(self.program, device, stages, source, os.path.join(self.folder, "out" + ending))
                key = f"{stages}, {image.dtype}"
                self.compared[key] = self.compared.get(key, 0) + 1
                alike = got.dtype == expected.dtype and got.shape == expected.shape
                off = int(np.abs(got.astype(np.int64) - expected).max()) if alike else 0
                self.most[key] = max(self.most.get(key, 0), off)
                if not alike or off > most:
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
        print(f"{key}: {count} compared, at most {comparison.most[key]} apart")
    total = sum(comparison.compared.values())
    print(f"{total - comparison.failed} of {total} comparisons equal, or as close as they must be "
          f"(OpenCV {cv2.__version__})")
    sys.exit(1 if comparison.failed or not total else 0)


main()
