#!/usr/bin/env python3
"""Compares stacks with tifffile: imgpipe extracts the same pages as tifffile, and tifffile can read what imgpipe
writes.

    pages_compare.py IMGPIPE

Needs numpy and tifffile; reports what is missing. Stacks of one type and of several, in both byte orders, BigTIFF,
ImageJ's (with a directory per page, and with one), OME-TIFF.
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import tifffile
except ImportError as missing:
    sys.exit(f"pages_compare: {missing}")


def series(count, height, width, dtype, channels=1, seed=1):
    shape, most = (count, height, width, channels), np.iinfo(dtype).max
    values = np.random.default_rng(seed).integers(0, most, shape, endpoint=True).astype(dtype)
    return values if channels > 1 else values[..., 0]


def write_mixed(path):
    with tifffile.TiffWriter(path) as out:
        for i, (shape, dtype) in enumerate([((9, 7), np.uint8), ((3, 50, 3), np.uint8), ((31, 1), np.uint16)]):
            page = np.random.default_rng(i).integers(0, np.iinfo(dtype).max, shape, endpoint=True).astype(dtype)
            out.write(page, photometric="rgb" if len(shape) == 3 else "minisblack")


def write_one_directory(path):
    """Like ImageJ's stacks beyond 4 GB: one directory, all images one after another."""
    stack = series(6, 13, 21, np.uint16)
    tifffile.imwrite(path, stack, imagej=True)
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        number_of_tags = int.from_bytes(open(path, "rb").read()[page.offset:page.offset + 2],
                                        "big" if file.byteorder == ">" else "little")
    with open(path, "r+b") as raw:
        raw.seek(page.offset + 2 + 12 * number_of_tags)
        raw.write(bytes(4))  # no next directory


MADE = {
    "grey8": lambda path: tifffile.imwrite(path, series(5, 17, 23, np.uint8), photometric="minisblack"),
    "grey16_big_endian": lambda path: tifffile.imwrite(path, series(5, 17, 23, np.uint16), photometric="minisblack",
                                                       byteorder=">"),
    "bigtiff": lambda path: tifffile.imwrite(path, series(3, 40, 30, np.uint16), photometric="minisblack",
                                             bigtiff=True),
    "tiles": lambda path: tifffile.imwrite(path, series(3, 40, 50, np.uint8), photometric="minisblack",
                                           tile=(16, 32)),
    "strips": lambda path: tifffile.imwrite(path, series(3, 40, 50, np.uint8), photometric="minisblack",
                                            rowsperstrip=7),
    "rgb": lambda path: tifffile.imwrite(path, series(4, 11, 9, np.uint8, 3), photometric="rgb"),
    "imagej": lambda path: tifffile.imwrite(path, series(7, 12, 15, np.uint16), imagej=True),
    "imagej_one_directory": write_one_directory,
    "ome": lambda path: tifffile.imwrite(path, series(4, 12, 15, np.uint8), metadata={"axes": "ZYX"}, ome=True),
    "mixed": write_mixed,
    "many": lambda path: tifffile.imwrite(path, series(1500, 3, 5, np.uint8), photometric="minisblack",
                                          contiguous=False),
}


def pages_of(path):
    """Every image separately. tifffile returns an ImageJ stack of one directory as a series."""
    with tifffile.TiffFile(path) as file:
        if len(file.pages) == 1 and file.is_imagej:
            return list(file.series[0].asarray())
        return [page.asarray() for page in file.pages]


def run(program, *arguments):
    return subprocess.run([program, *arguments, "-q", "--overwrite"], capture_output=True, text=True)


def inverted(page):
    return np.iinfo(page.dtype).max - page


def faults_of(name, program, folder):
    source, stack = os.path.join(folder, name + ".tif"), os.path.join(folder, name + "_out.tif")
    MADE[name](source)
    wanted = pages_of(source)
    for device in ("cpu", "reference"):
        done = run(program, source, stack, "--pages", "all", "--stages", "invert", "--device", device,
                   "--tiff-compression", "none")
        if done.returncode != 0:
            yield f"{device}: {done.stderr.strip()}"
            return
        with tifffile.TiffFile(stack) as file:
            got = [page.asarray() for page in file.pages]
        if len(got) != len(wanted):
            yield f"{device}: {len(got)} pages of {len(wanted)}"
            return
        for number, (a, b) in enumerate(zip(got, wanted), 1):
            if a.dtype != b.dtype or not np.array_equal(a, inverted(b)):
                yield f"{device}: page {number} differs"
    last = len(wanted)
    one = os.path.join(folder, "one.tif")
    done = run(program, source, one, "--pages", str(last), "--stages", "invert", "--tiff-compression", "none")
    if done.returncode != 0 or not np.array_equal(tifffile.imread(one), inverted(wanted[-1])):
        yield f"page {last} alone differs {done.stderr.strip()}"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in MADE:
            faults = list(faults_of(name, sys.argv[1], folder))
            failed += bool(faults)
            print(f"{name}: {'; '.join(faults) if faults else 'equal'}")
    print(f"{len(MADE) - failed} of {len(MADE)} stacks equal")
    sys.exit(1 if failed else 0)


main()
