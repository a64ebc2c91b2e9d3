#!/usr/bin/env python3
"""Compares imgpipe --stack with numpy over a stack larger than the memory that imgpipe may use.

    projections.py IMGPIPE DIRECTORY [--gigabytes 5] [--memory 512M] [--side 2048]

Writes a BigTIFF of uint16 pages into DIRECTORY, projects it by max, min, mean, sum and median within --memory, and
compares every sample with numpy, which reads the same file through a memory map, by bands of rows. Prints a Markdown
table with times, passes and peak memory, and removes the files. Exit 0: all equal; 1: a difference, or more memory was
used than allowed; 77: numpy is missing, nothing was compared.
"""
import argparse
import json
import os
import struct
import subprocess
import sys
import time

try:
    import numpy
except ImportError:
    print("SKIPPED: numpy is not installed")
    sys.exit(77)

PROJECTIONS = ["max", "min", "mean", "sum", "median"]
BAND_BYTES = 256 << 20


def write_stack(path, pages, side):
    """A BigTIFF of one strip per page; returns the offset of each page's pixels. Pages differ everywhere."""
    random = numpy.random.default_rng(36)
    noise = random.integers(0, 65536, (side + 64, side), numpy.uint16)
    starts, at = [], 16
    with open(path, "wb") as file:
        file.write(struct.pack("<2sHHHQ", b"II", 43, 8, 0, 16))
        for page in range(pages):
            fields = [(256, 4, side), (257, 4, side), (258, 3, 16), (259, 3, 1), (262, 3, 1), (273, 16, 0), (277, 3, 1),
                      (278, 4, side), (279, 16, 2 * side * side)]
            start = at + 8 + 20 * len(fields) + 8
            end = start + 2 * side * side
            directory = struct.pack("<Q", len(fields))
            for tag, kind, value in fields:
                directory += struct.pack("<HHQQ", tag, kind, 1, start if tag == 273 else value)
            file.write(directory + struct.pack("<Q", 0 if page == pages - 1 else end))
            # Rows of noise, shifted and scaled by page: most sums stay below the largest sample, some do not.
            rows = noise[page * 7 % 64:][:side]
            pixels = rows // numpy.uint16(1 + page % 5)
            pixels[:side // 2] //= numpy.uint16(pages)
            file.write(pixels.astype("<u2").tobytes())
            starts.append(start)
            at = end
    return starts


def project(name, band):
    """`band`: pages x rows x columns."""
    count = band.shape[0]
    if name in ("max", "min"):
        return getattr(band, name)(axis=0)
    if name == "median":
        lower, upper = numpy.partition(band, ((count - 1) // 2, count // 2), axis=0)[[(count - 1) // 2, count // 2]]
        return ((lower.astype(numpy.uint32) + upper + 1) // 2).astype(numpy.uint16)
    total = band.sum(axis=0, dtype=numpy.uint64)
    if name == "sum":
        return numpy.minimum(total, 65535).astype(numpy.uint16)
    return ((2 * total + count) // (2 * count)).astype(numpy.uint16)


def expected(path, starts, side):
    """All projections by numpy, read by bands."""
    results = {name: numpy.empty((side, side), numpy.uint16) for name in PROJECTIONS}
    rows = max(1, BAND_BYTES // (2 * side * len(starts)))
    stack = numpy.memmap(path, numpy.uint8, "r")
    for first in range(0, side, rows):
        end = min(side, first + rows)
        band = numpy.stack([stack[start + 2 * side * first:start + 2 * side * end].view("<u2").reshape(-1, side)
                            for start in starts])
        for name, result in results.items():
            result[first:end] = project(name, band)
    return results


def run(command):
    """(seconds, seconds of processors, peak bytes). Python must have been small until now: the peak includes it."""
    start = time.monotonic()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"exit code {process.returncode}: {' '.join(command)}")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def bytes_of(text):
    return int(text[:-1]) << {"K": 10, "M": 20, "G": 30}[text[-1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("imgpipe")
    parser.add_argument("directory")
    parser.add_argument("--gigabytes", type=float, default=5)
    parser.add_argument("--memory", default="512M")
    parser.add_argument("--side", type=int, default=2048)
    arguments = parser.parse_args()
    side, pages = arguments.side, max(1, round(arguments.gigabytes * 1e9 / (2 * arguments.side ** 2)))
    stack = os.path.join(arguments.directory, "projections.tif")
    report = os.path.join(arguments.directory, "projections.json")
    outputs = {name: os.path.join(arguments.directory, f"projections-{name}.npy") for name in PROJECTIONS}
    rows, wrong = {}, False
    try:
        starts = write_stack(stack, pages, side)
        size = os.path.getsize(stack)
        print(f"{pages} pages of {side}x{side} uint16, {size / 1e9:.2f} GB, --memory {arguments.memory}\n", flush=True)
        for name, output in outputs.items():
            seconds, processors, peak = run([arguments.imgpipe, stack, output, "--stack", name, "--memory",
                                             arguments.memory, "--overwrite", "--report", report, "-q"])
            with open(report) as file:
                passes = json.load(file)["stack"]["passes"]
            wrong = wrong or peak > bytes_of(arguments.memory)
            rows[name] = (f"| {name} | {seconds:.2f} | {processors:.2f} | {size / 1e9 / seconds:.2f} | {passes} "
                          f"| {peak / 1e6:.0f} |")
            print(rows[name], file=sys.stderr)
        print("| projection | s | processor s | GB/s | passes | peak MB | equal to numpy |\n" + 7 * "|---" + "|")
        for name, result in expected(stack, starts, side).items():
            got = numpy.load(outputs[name])
            is_equal = got.dtype == numpy.uint16 and numpy.array_equal(got, result)
            wrong = wrong or not is_equal
            print(rows[name], "yes |" if is_equal else "NO |")
    finally:
        for path in (stack, report, *outputs.values()):
            if os.path.exists(path):
                os.remove(path)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
