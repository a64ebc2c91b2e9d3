#!/usr/bin/env python3
"""Flat-field correction of a series, (frame - dark) / (flat - dark): imgpipe against numpy, and the times of peers.

    flat_field.py IMGPIPE [--frames N] [--side PIXELS] [--rounds N] [--device NAME]

Makes N 16-bit grey TIFF frames (default 200 of 2000 x 2000 pixels), a dark and a flat frame, and corrects them with one
imgpipe command. Every pixel must equal numpy's integers, rounded half up. Then prints the median seconds of interleaved
rounds with uncompressed TIFF: imgpipe, OpenCV in Python (a thread per processor), and ImageMagick and libvips if they
are installed. The peers' files are not compared, because they round otherwise. Exit 0: all equal; 1: a difference; 77:
no numpy or OpenCV.
"""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import cv2
    import numpy as np
except ImportError as missing:
    print(f"SKIPPED: {missing.name} is not installed")
    sys.exit(77)

UNPACKED = [cv2.IMWRITE_TIFF_COMPRESSION, 1]


def make(directory, frames, side):
    """Frames with a dark offset of some 400, brighter in the middle."""
    (directory / "frames").mkdir()
    random = np.random.default_rng(36)
    y, x = np.mgrid[-1:1:side * 1j, -1:1:side * 1j]
    light = 1 - 0.4 * (x * x + y * y)
    dark = random.integers(380, 420, (side, side)).astype(np.uint16)
    flat = (dark + 30000 * light + random.integers(0, 200, (side, side))).astype(np.uint16)
    flat[0, :3] = 0  # dead pixels
    cv2.imwrite(str(directory / "dark.tif"), dark, UNPACKED)
    cv2.imwrite(str(directory / "flat.tif"), flat, UNPACKED)
    for i in range(frames):
        squares = random.integers(0, 40000, (-(-side // 8), -(-side // 8))).repeat(8, 0).repeat(8, 1)
        frame = dark + light * squares[:side, :side]
        cv2.imwrite(str(directory / f"frames/{i:03}.tif"), frame.astype(np.uint16), UNPACKED)


def expected(frame, dark, flat):
    v, d = (np.maximum(a.astype(np.int64) - dark, 0) for a in (frame, flat))
    scale = (2 * d.sum() + d.size) // (2 * d.size)
    quotient = np.minimum((2 * v * scale + d) // np.maximum(2 * d, 1), 65535)
    return np.where(d > 0, quotient, np.where(v > 0, 65535, 0)).astype(np.uint16)


def check(directory):
    read = lambda name: cv2.imread(str(name), cv2.IMREAD_UNCHANGED)
    dark, flat = read(directory / "dark.tif"), read(directory / "flat.tif")
    names = sorted((directory / "frames").iterdir())
    different = sum(int((read(directory / "imgpipe" / name.name) != expected(read(name), dark, flat)).sum())
                    for name in names)
    print(f"{len(names)} frames: {different} of {len(names) * dark.size} pixels differ from numpy's")
    return different == 0


def with_opencv(name, out, dark, divisor, scale):
    frame = cv2.subtract(cv2.imread(name, cv2.IMREAD_UNCHANGED), dark)
    cv2.imwrite(out, cv2.divide(frame, divisor, scale=scale), UNPACKED)


def opencv(directory):
    cv2.setNumThreads(1)
    dark, flat = (cv2.imread(str(directory / f"{name}.tif"), cv2.IMREAD_UNCHANGED) for name in ("dark", "flat"))
    divisor = cv2.subtract(flat, dark)
    scale = float(divisor.mean())
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        list(threads.map(lambda name: with_opencv(str(name), str(directory / "OpenCV" / name.name), dark, divisor,
                                                  scale), sorted((directory / "frames").iterdir())))


def commands(directory, program, device):
    run = lambda *words: subprocess.run(words, cwd=directory, check=True, stdout=subprocess.DEVNULL)
    yield "imgpipe", lambda: run(program, "frames/", "imgpipe/", "--image", "dark=dark.tif", "--image", "flat=flat.tif",
                                 "--image-stages", "flat=subtract:dark", "--stages", "subtract:dark,divide:flat",
                                 "--device", device, "--tiff-compression", "none", "-q")
    yield "OpenCV", lambda: opencv(directory)
    in_parallel = lambda line: run("sh", "-c", f"ls frames | xargs -P {len(os.sched_getaffinity(0))} -I@ {line}")
    if shutil.which("convert"):
        yield "ImageMagick", lambda: in_parallel(
            "convert frames/@ dark.tif -compose MinusSrc -composite "
            "'(' flat.tif dark.tif -compose MinusSrc -composite ')' -compose DivideSrc -composite ImageMagick/@")
    if shutil.which("vips"):
        yield "libvips", lambda: in_parallel(
            "sh -c 'vips subtract frames/@ dark.tif libvips/@.a.v && vips subtract flat.tif dark.tif libvips/@.b.v && "
            "vips divide libvips/@.a.v libvips/@.b.v libvips/@.c.v && vips linear libvips/@.c.v libvips/@ 20000 0 && "
            "rm libvips/@.?.v'")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--side", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        make(directory, options.frames, options.side)
        seconds = {}
        for _ in range(options.rounds):
            for contestant, call in commands(directory, options.program, options.device):
                shutil.rmtree(directory / contestant, ignore_errors=True)
                (directory / contestant).mkdir()
                start = time.perf_counter()
                call()
                seconds.setdefault(contestant, []).append(time.perf_counter() - start)
        equal = check(directory)
    for contestant, times in seconds.items():
        print(f"{contestant:12} {statistics.median(times):7.2f} s ({min(times):.2f} to {max(times):.2f})")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
