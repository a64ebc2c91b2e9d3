#!/usr/bin/env python3
"""Compares the Python module with OpenCV on arrays in memory: pixels, and processor time of one call.

    python_arrays.py [--module build/release/python] [--rounds 500] [--most 1.5]

Prints a Markdown table: medians of processor milliseconds of a call on one thread, in interleaved rounds, and the share
of equal pixels. Results go to arrays that exist, or to new ones. Exit 0: all as expected; 1: a pixel differs by more
than one, or at 224x224 or 5120x2880 imgpipe takes more than `--most` times OpenCV's time; 77: OpenCV is missing.
"""
import argparse
import statistics
import sys
import time

try:
    import cv2
    import numpy as np
except ImportError:
    print("SKIPPED: OpenCV or numpy is not installed")
    sys.exit(77)

SIZES = ((224, 224), (1165, 859), (5120, 2880))
LIMITED = ((224, 224), (5120, 2880))
SEED = 20261126


class Stages:
    """A list of stages. Without imgpipe.Pipeline results are always new arrays."""

    def __init__(self, module, stages, threads=1):
        if hasattr(module, "Pipeline"):
            self._pipeline = module.Pipeline(stages, threads=threads)
        else:
            self._pipeline = lambda array, out: module.run(array, stages, device="cpu", threads=threads)[0]

    def __call__(self, array, out):
        return self._pipeline(array, out=out)


def cv_contrast(array, out):
    grey = cv2.cvtColor(array, cv2.COLOR_RGB2GRAY)
    return cv2.blur(cv2.normalize(grey, grey, 0, 255, cv2.NORM_MINMAX), (5, 5), dst=out)


def cv_median(array, out):
    return cv2.medianBlur(array, 3, dst=out)


def cv_half(array, out):
    return cv2.resize(array, (array.shape[1] // 2, array.shape[0] // 2), dst=out, interpolation=cv2.INTER_AREA)


def jobs(width, height):
    """Rows: name, stages, OpenCV's calls, number of channels."""
    yield "grey, contrast, 5x5 mean", "gray:luma=opencv,contrast,smooth:border=reflect", cv_contrast, 3
    yield "median 3x3 of grey", "median", cv_median, 1
    yield "half size, area", f"resize:{width // 2}:{height // 2}:area", cv_half, 3


def took_ms(clock, call, array, out):
    start = clock()
    call(array, out)
    return (clock() - start) * 1e3


def medians(calls, array, outs, rounds, clock=time.process_time):
    """The median time of each call; in each round all are called once, in turn."""
    times = [[took_ms(clock, call, array, out) for call, out in zip(calls, outs)] for _ in range(rounds)]
    return [statistics.median(of_one) for of_one in zip(*times)]


def compare(module, rounds, most):
    random = np.random.default_rng(SEED)
    failed = False
    print(f"| image | job | result | imgpipe, ms | OpenCV {cv2.__version__}, ms | ratio | equal pixels |")
    print("|---|---|---|---|---|---|---|")
    for width, height in SIZES:
        for name, stages, opencv, channels in jobs(width, height):
            array = random.integers(0, 256, (height, width, channels), dtype="uint8").squeeze()
            calls = Stages(module, stages), opencv
            results = [call(array, None) for call in calls]
            differences = cv2.absdiff(*results)
            if differences.max() > 1:
                print(f"{width}x{height}, {stages}: a pixel differs from OpenCV's by {differences.max()}, seed {SEED}")
                failed = True
            share = 100 * np.mean(differences == 0)
            enough = max(9, round(rounds * min(1, 1e5 / (width * height))))
            for memory, outs in (("given memory", results), ("new array", (None, None))):
                took, theirs = medians(calls, array, outs, enough)
                print(f"| {width}x{height} | {name} | {memory} | {took:.3f} | {theirs:.3f} | {took / theirs:.2f} | "
                      f"{share:.3f} % |", flush=True)
                failed = failed or ((width, height) in LIMITED and took > most * theirs)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--module", help="the directory that contains the package imgpipe; default: the installed one")
    parser.add_argument("--rounds", type=int, default=500, help="of small images; large ones take fewer")
    parser.add_argument("--most", type=float, default=1.5, help="the ratio of times that is too much")
    options = parser.parse_args()
    if options.module:
        sys.path.insert(0, options.module)
    import imgpipe  # pylint: disable=import-outside-toplevel
    cv2.setNumThreads(1)
    return int(compare(imgpipe, options.rounds, options.most))


if __name__ == "__main__":
    sys.exit(main())
