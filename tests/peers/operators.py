#!/usr/bin/env python3
"""Times the stages that OpenCV has too, on arrays in memory, and compares the pixels.

    operators.py [--module build/release/python] [--only NAME]... [--type TYPE]... [--threads 1] [--rounds 15]

Prints a Markdown table: for each row and type (grey, rgb, grey16, rgb16) imgpipe's milliseconds, OpenCV's divided by
imgpipe's, and in brackets the share of equal samples, where OpenCV defines the same result. Medians of interleaved
rounds, results in arrays that exist. One thread: processor time; more: elapsed time. --only selects rows whose name
begins with NAME. Exit 0, or 77: OpenCV is missing.
"""
import argparse
import math
import sys
import time

try:
    import cv2
    import numpy as np
except ImportError:
    print("SKIPPED: OpenCV or numpy is not installed")
    sys.exit(77)

from python_arrays import SEED, Stages, medians

REFLECT = cv2.BORDER_REFLECT_101
TYPES = {"grey": ("uint8", 1), "rgb": ("uint8", 3), "grey16": ("uint16", 1), "rgb16": ("uint16", 3)}


def white(array):
    return int(np.iinfo(array.dtype).max)


def hist(array, out):
    """imgpipe copies the pixels too."""
    levels = white(array) + 1
    for channel in range(array.shape[2] if array.ndim == 3 else 1):
        cv2.calcHist([array], [channel], None, [levels], [0, levels])
    np.copyto(out, array)


def lookup(function):
    """A call that looks samples up in a table of `function`, which maps 0 to 1 onto 0 to 1."""
    def call(array, out):
        values = function(np.arange(white(array) + 1) / white(array)).clip(0, 1)
        table = np.floor(white(array) * values + 0.5).astype(array.dtype)
        return lambda: cv2.LUT(array, table, dst=out)
    return prepared(call)


def prepared(make):
    """The call that make(array, out) returns, made once."""
    made = {}

    def call(array, out):
        key = id(array), id(out)
        if key not in made:
            made.clear()
            made[key] = make(array, out)
        made[key]()
    return call


def each_plane(function):
    """OpenCV's functions of one channel, on each channel."""
    def call(array, out):
        if array.ndim == 2:
            return lambda: function(array, out)
        planes, results = ([np.empty(array.shape[:2], array.dtype) for _ in range(3)] for _ in range(2))

        def split_and_merge():
            for plane, result in zip(cv2.split(array, planes), results):
                function(plane, result)
            cv2.merge(results, out)
        return split_and_merge
    return prepared(call)


def sobel(array, out):
    shape = array.shape
    dx, dy, size = (np.empty(shape, np.float32) for _ in range(3))

    def call():
        cv2.Sobel(array, cv2.CV_32F, 1, 0, dst=dx)
        cv2.Sobel(array, cv2.CV_32F, 0, 1, dst=dy)
        cv2.magnitude(dx, dy, size)
        cv2.add(size, 0, dst=out, dtype=cv2.CV_8U if array.dtype == np.uint8 else cv2.CV_16U)
    return call


def blurred(array, sigma, out):
    size = 2 * math.ceil(3 * sigma) + 1
    return cv2.GaussianBlur(array, (size, size), sigma, dst=out, borderType=REFLECT)


def sharpen(array, out):
    cv2.addWeighted(array, 2, blurred(array, 1, out), -1, 0, dst=out)


def resized(method):
    return lambda array, out: cv2.resize(array, out.shape[1::-1], dst=out, interpolation=method)


def box(radius):
    side = 2 * radius + 1
    return lambda array, out: cv2.blur(array, (side, side), dst=out, borderType=REFLECT)


def morphology(function, radius):
    kernel = np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)
    return lambda array, out: function(array, kernel, dst=out)


def resize_rows(width, height):
    linear = {"linear": cv2.INTER_LINEAR, "linear exact": cv2.INTER_LINEAR_EXACT}
    nearest = {"nearest": cv2.INTER_NEAREST, "nearest exact": cv2.INTER_NEAREST_EXACT}
    area = {"area": cv2.INTER_AREA}
    for name, part, methods in (("1/2", 0.5, linear | nearest | area), ("to 1024", 1024 / width, linear | area),
                                ("x1.25", 1.25, linear), ("x2", 2, linear)):
        size = f"{round(width * part)}:{round(height * part)}"
        for method, number in methods.items():
            yield f"resize {name}, {method}", f"resize:{size}:{method.split()[0]}", resized(number)


def rows(array):
    """(name, stages, OpenCV's call) for an array."""
    height, width = array.shape[:2]
    most, colour = white(array), array.ndim == 3
    at = most * 100 // 255
    if colour:
        yield "gray", "gray:luma=opencv", lambda a, out: cv2.cvtColor(a, cv2.COLOR_RGB2GRAY, dst=out)
    yield "hist", "hist", hist
    yield "contrast", "contrast", lambda a, out: cv2.normalize(a, out, 0, most, cv2.NORM_MINMAX)
    yield "smooth", "smooth:border=reflect", lambda a, out: cv2.blur(a, (5, 5), dst=out, borderType=REFLECT)
    yield "threshold", f"threshold:{at}", lambda a, out: cv2.threshold(a, at, most, cv2.THRESH_BINARY, dst=out)
    yield "invert", "invert", lambda a, out: cv2.bitwise_not(a, dst=out)
    yield "gamma", "gamma:2.2", lookup(lambda v: v ** (1 / 2.2))
    lo, hi = most // 10, most - most // 10
    yield "levels", f"levels:{lo}:{hi}", lookup(lambda v: (v * most - lo) / (hi - lo))
    if most == 255:  # OpenCV has it for 8 bits only
        yield "equalize", "equalize", each_plane(lambda a, out: cv2.equalizeHist(a, dst=out))
    adaptive = cv2.createCLAHE(2.0, (8, 8))
    yield "clahe", "clahe:2:8", each_plane(lambda a, out: adaptive.apply(a, dst=out))
    yield from resize_rows(width, height)
    yield "flip", "flip", lambda a, out: cv2.flip(a, 1, dst=out)
    yield "flip:vertical", "flip:vertical", lambda a, out: cv2.flip(a, 0, dst=out)
    yield "rotate:90", "rotate:90", lambda a, out: cv2.rotate(a, cv2.ROTATE_90_CLOCKWISE, dst=out)
    yield "rotate:180", "rotate:180", lambda a, out: cv2.rotate(a, cv2.ROTATE_180, dst=out)
    for size in (3, 5):
        yield f"median:{size}", f"median:{size}", lambda a, out, size=size: cv2.medianBlur(a, size, dst=out)
    yield "sobel", "sobel", prepared(sobel)
    for radius in (1, 5, 20, 127):
        yield f"box:{radius}", f"box:{radius}:reflect", box(radius)
    for sigma in (0.5, 1, 2, 10, 40):
        yield f"gauss:{sigma}", f"gauss:{sigma}:reflect", lambda a, out, sigma=sigma: blurred(a, sigma, out)
    yield "sharpen", "sharpen", sharpen
    for radius in (1, 10):
        yield f"erode:{radius}", f"erode:{radius}", morphology(cv2.erode, radius)
        yield f"dilate:{radius}", f"dilate:{radius}", morphology(cv2.dilate, radius)


def photograph(width, height, sample, channels):
    """Smooth gradients, a pattern and a little noise, without black and white: contrast must not be a copy."""
    random = np.random.default_rng(SEED)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    planes = [0.5 + 0.25 * np.sin(x / 97 + c) + 0.15 * np.cos(y / 61 - x / 203) +
              0.03 * random.standard_normal((height, width), np.float32) for c in range(channels)]
    most = np.iinfo(sample).max
    return np.ascontiguousarray(np.rint(np.dstack(planes).clip(0.02, 0.98) * most).astype(sample).squeeze())


def compare(module, options):
    """The cells of the table by row and type."""
    clock = time.process_time if options.threads == 1 else time.perf_counter
    cells = {}
    for kind in options.type or TYPES:
        array = photograph(*options.size, *TYPES[kind])
        for name, stages, opencv in rows(array):
            if options.only and not name.startswith(tuple(options.only)):
                continue
            calls = Stages(module, stages, options.threads), opencv
            made = calls[0](array, None)
            ours, theirs = np.empty_like(made), np.empty_like(made)  # in memory of the same kind
            once = medians(calls, array, (ours, theirs), 1, clock)
            rounds = max(3, min(options.rounds, round(options.rounds * 100 / sum(once))))
            took, their_ms = medians(calls, array, (ours, theirs), rounds, clock)
            equal = 100 * np.mean(ours == theirs)
            shown = 100 if equal == 100 else min(99.9, round(equal, 1))
            cells.setdefault(name, {})[kind] = f"{took:.2f} | {their_ms / took:.2f} ({shown:g} %)"
            print(f"{kind} {name}: {cells[name][kind]}", file=sys.stderr, flush=True)
    return cells


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", help="the directory that contains the package imgpipe; default: the installed one")
    parser.add_argument("--only", action="append", help="rows whose name begins with this")
    parser.add_argument("--type", action="append", choices=TYPES)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15, help="of fast rows; slow ones take fewer")
    parser.add_argument("--size", type=lambda text: tuple(map(int, text.split("x"))), default=(4000, 3000))
    options = parser.parse_args()
    if options.module:
        sys.path.insert(0, options.module)
    import imgpipe  # pylint: disable=import-outside-toplevel
    cv2.setNumThreads(options.threads)
    kinds = options.type or list(TYPES)
    cells = compare(imgpipe, options)
    print(f"| OpenCV {cv2.__version__} | " + " | ".join(f"{kind}, ms | ratio (equal)" for kind in kinds) + " |")
    print("|---|" + "---|---|" * len(kinds))
    for name, of_kind in cells.items():
        print(f"| {name} | " + " | ".join(of_kind.get(kind, " | ") for kind in kinds) + " |")


if __name__ == "__main__":
    main()
