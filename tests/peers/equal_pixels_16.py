#!/usr/bin/env python3
"""Compares imgpipe with OpenCV and numpy, sample by sample, on generated 16-bit images.

    equal_pixels_16.py IMGPIPE

The equalities of docs/pixels.md for 16-bit samples, grey and RGB, through PNG files. Needs OpenCV and numpy. Exit
0: all equal; 1: a difference; 77: one of them is missing, or the program reduces PNG to 8 bits: nothing was compared.
"""
import os
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy as np
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

WHITE = 65535
HAS_STEP_OF_DOUBLES = int(cv2.__version__.split(".")[0]) >= 5  # of INTER_NEAREST_EXACT


def imgpipe(program, image, folder, stages):
    """The program's result for an array, through two files."""
    source, target = os.path.join(folder, "in.png"), os.path.join(folder, "out.png")
    cv2.imwrite(source, image)
    subprocess.run([program, source, target, "-q", "--device", "cpu", "--overwrite", "--stages", stages], check=True)
    return cv2.imread(target, cv2.IMREAD_UNCHANGED)


def stretched(image, white):
    """contrast, joint: in integers, rounded half up."""
    lo, hi = int(image.min()), int(image.max())
    wide = (image.astype(np.int64) - lo) * 2 * white + (hi - lo)
    return (wide // (2 * (hi - lo))).astype(np.uint16 if white == WHITE else np.uint8)


def narrowed(image):
    return ((image.astype(np.int64) * 255 + 32767) // WHITE).astype(np.uint8)


def gamma_table(value):
    return np.floor(WHITE * (np.arange(WHITE + 1) / WHITE) ** (1 / value) + 0.5).astype(np.uint16)


def checks_of_all(image):
    """(stages, the expected result), for grey and colour."""
    height, width = image.shape[:2]
    yield "smooth:box:border=reflect", cv2.blur(image, (5, 5))
    yield "smooth:gauss:border=reflect", cv2.GaussianBlur(image, (5, 5), 0)
    yield "smooth:gauss:replicate", cv2.GaussianBlur(image, (5, 5), 0, borderType=cv2.BORDER_REPLICATE)
    yield "threshold:40000", cv2.threshold(image, 40000, WHITE, cv2.THRESH_BINARY)[1]
    yield "invert", WHITE - image
    yield "gamma:2.2", gamma_table(2.2)[image]
    yield "contrast", stretched(image, WHITE)
    yield "contrast:to=8", stretched(image, 255)
    yield "depth:8", narrowed(image)
    yield "depth:8,depth:16", narrowed(image).astype(np.uint16) * 257
    for w, h in ((width * 2 // 3 + 1, height // 5 + 1), (width + 97, height * 2 + 1), (256, 100)):
        yield f"resize:{w}:{h}:linear", cv2.resize(image, (w, h), interpolation=cv2.INTER_LINEAR_EXACT)
        if HAS_STEP_OF_DOUBLES:
            yield f"resize:{w}:{h}:nearest", cv2.resize(image, (w, h), interpolation=cv2.INTER_NEAREST_EXACT)
    for across, down in ((2, 2), (2, 1), (3, 3), (4, 2), (5, 5), (15, 15), (16, 16)):
        if width % across + height % down == 0:
            w, h = width // across, height // down
            yield f"resize:{w}:{h}:area", cv2.resize(image, (w, h), interpolation=cv2.INTER_AREA)


def checks(image):
    yield from checks_of_all(image)
    if image.ndim == 2:
        yield "threshold", cv2.threshold(image, 0, WHITE, cv2.THRESH_BINARY | cv2.THRESH_OTSU)[1]
    else:
        yield "gray:opencv", cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)


def images():
    random = np.random.default_rng(16)
    yield "noise", random.integers(0, WHITE + 1, (480, 240), dtype=np.uint16)
    yield "noise, colour", random.integers(0, WHITE + 1, (240, 480, 3), dtype=np.uint16)
    # 1525 levels, as from a 12-bit camera.
    yield "12 bits", (random.normal(2000, 250, (210, 330)).clip(1000, 2524)).astype(np.uint16)
    yield "12 bits, colour", random.integers(1000, 2525, (120, 90, 3), dtype=np.uint16)


def main():
    program = sys.argv[1]
    failed = compared = 0
    if not HAS_STEP_OF_DOUBLES:
        print("SKIPPED: cv2.resize nearest; before 5.0 its step has 16 bits")
    with tempfile.TemporaryDirectory() as folder:
        if imgpipe(program, np.full((4, 4), 1000, np.uint16), folder, "invert").dtype != np.uint16:
            print("SKIPPED: this program makes 8 bits of PNG files of 16")
            sys.exit(77)
        for name, image in images():
            for stages, want in checks(image):
                got = imgpipe(program, image, folder, stages)
                compared += 1
                if got.dtype != want.dtype or got.shape != want.shape:
                    failed += 1
                    print(f"DIFFERENT: {stages}: {name}: {got.dtype} {got.shape}, not {want.dtype} {want.shape}")
                elif (got != want).any():
                    failed += 1
                    print(f"DIFFERENT: {stages}: {name}: {(got != want).sum()} of {want.size} samples")
            levels = {bits: len(np.unique(imgpipe(program, image, folder, f"contrast:to={bits}"))) for bits in (8, 16)}
            print(f"{name}: {len(np.unique(image))} values; stretched to 8 bits {levels[8]}, to 16 bits {levels[16]}")
    print(f"{compared - failed} of {compared} comparisons equal")
    sys.exit(1 if failed or not compared else 0)


main()
