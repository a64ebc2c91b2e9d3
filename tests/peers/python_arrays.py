#!/usr/bin/env python3
"""Compares the Python module with OpenCV on arrays in memory: pixels, and processor time of one call.

    python_arrays.py [--module build/release/python] [--rounds 500] [--most 1.5]

Prints a Markdown table: medians of processor milliseconds of a call on one thread, in interleaved rounds, and the share
of equal pixels. Both write their results to memory that exists. Exit 0: all as expected; 1: a pixel differs by more
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
    """A list of stages that writes to the same array at each call; without imgpipe.Pipeline, to a new one."""

    def __init__(self, module, stages):
        if hasattr(module, "Pipeline"):
            self._pipeline = module.Pipeline(stages, threads=1)
            self._out = None
            self.call = self._call_pipeline
        else:
            self.call = lambda array: module.run(array, stages, device="cpu", threads=1)[0]

    def _call_pipeline(self, array):
        self._out = self._pipeline(array) if self._out is None else self._pipeline(array, out=self._out)
        return self._out


class CvContrast:
    def __init__(self):
        self._grey = self._stretched = self._out = None

    def call(self, array):
        self._grey = cv2.cvtColor(array, cv2.COLOR_RGB2GRAY, dst=self._grey)
        self._stretched = cv2.normalize(self._grey, self._stretched, 0, 255, cv2.NORM_MINMAX)
        self._out = cv2.blur(self._stretched, (5, 5), dst=self._out)
        return self._out


class CvMedian:
    def __init__(self):
        self._out = None

    def call(self, array):
        self._out = cv2.medianBlur(array, 3, dst=self._out)
        return self._out


class CvHalf:
    def __init__(self):
        self._out = None

    def call(self, array):
        size = array.shape[1] // 2, array.shape[0] // 2
        self._out = cv2.resize(array, size, dst=self._out, interpolation=cv2.INTER_AREA)
        return self._out


def jobs(width, height):
    """Rows: name, stages, OpenCV's calls, number of channels."""
    yield "grey, contrast, 5x5 mean", "gray:luma=opencv,contrast,smooth:border=reflect", CvContrast(), 3
    yield "median 3x3 of grey", "median", CvMedian(), 1
    yield "half size, area", f"resize:{width // 2}:{height // 2}:area", CvHalf(), 3


def processor_ms(call, array):
    start = time.process_time()
    call(array)
    return (time.process_time() - start) * 1e3


def medians(calls, array, rounds):
    """The median time of each call; in each round all are called once, in turn."""
    times = [[processor_ms(call, array) for call in calls] for _ in range(rounds)]
    return [statistics.median(of_one) for of_one in zip(*times)]


def compare(module, rounds, most):
    random = np.random.default_rng(SEED)
    failed = False
    print(f"| image | job | imgpipe, ms | OpenCV {cv2.__version__}, ms | ratio | equal pixels |\n|---|---|---|---|---|---|")
    for width, height in SIZES:
        for name, stages, opencv, channels in jobs(width, height):
            array = random.integers(0, 256, (height, width, channels), dtype="uint8").squeeze()
            ours = Stages(module, stages)
            differences = cv2.absdiff(ours.call(array), opencv.call(array))
            if differences.max() > 1:
                print(f"{width}x{height}, {stages}: a pixel differs from OpenCV's by {differences.max()}, seed {SEED}")
                failed = True
            enough = max(9, round(rounds * min(1, 1e5 / (width * height))))
            took, theirs = medians([ours.call, opencv.call], array, enough)
            share = 100 * np.mean(differences == 0)
            print(f"| {width}x{height} | {name} | {took:.3f} | {theirs:.3f} | {took / theirs:.2f} | {share:.3f} % |",
                  flush=True)
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
