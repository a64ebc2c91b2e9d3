#!/usr/bin/env python3
"""Compares imgpipe's decoding with Pillow's, over real files and damaged copies of them.

    pillow_decoding.py PROGRAM CORPUS [--mutations N] [--seed S] [--list]

Both sides are reduced to 8-bit RGB: Pillow's first frame by ImageOps.exif_transpose() and convert("RGB"), imgpipe's by
depth:8, grey replicated, alpha dropped. Three comparisons:

1. Every file below CORPUS that both read, strictly: equal pixels, or one of the REASONS below.
2. Every JPEG and PNG below CORPUS with --accept pillow: the same verdict and, for accepted files, equal pixels.
3. The same for N (1,000) copies of those files, damaged at random (truncated, bytes flipped, markers or chunks inserted,
   deleted, exchanged), reproducible by --seed.

A difference in JPEG may come from another version of libjpeg-turbo: Pillow brings its own. With its library in
LD_PRELOAD, imgpipe decodes with the same one; only then are differences in JPEG failures:

    LD_PRELOAD=.../site-packages/pillow.libs/libjpeg-*.so.62.4.0 pillow_decoding.py ...

Prints each unexplained difference and the number of files by reason; exits with 1 for unexplained differences. --list
also prints the explained ones. Needs numpy and Pillow 13.0.
"""
import argparse
import collections
import io
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import warnings
import zlib

import numpy
from PIL import Image, ImageOps, JpegImagePlugin, UnidentifiedImageError, features

MAX_PIXELS = 30_000_000
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"

# Why strict decoding differs from Pillow, by the key that reason_of() returns. docs/formats.md lists them, too.
REASONS = {
    "deep": "more than 8 bits: imgpipe rounds to 8; Pillow clips grey above 255, takes the upper byte of others",
    "palette": "a palette of a TIFF or Netpbm-like file whose entries have 16 bits",
}

Outcome = collections.namedtuple("Outcome", "pixels reason")


def read_with_pillow(data):
    """What Pillow makes of a file: pixels, or None and why not."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.width * image.height > MAX_PIXELS:
                return Outcome(None, "too large for this comparison"), None
            facts = {"format": image.format, "mode": image.mode, "info": dict(image.info), "tile": list(image.tile)}
            image.load()
            pixels = image.convert("RGB")
            try:
                pixels = ImageOps.exif_transpose(image).convert("RGB")
            except (SyntaxError, OSError, ValueError, TypeError, KeyError, struct.error):
                pass  # damaged metadata
            return Outcome(numpy.asarray(pixels), ""), facts
    except Exception as error:  # Pillow raises errors of many types for damaged files
        return Outcome(None, f"{type(error).__name__}: {error}"[:100]), None


def read_with_imgpipe(program, files, options):
    """The outcomes of files {number: bytes}, from one batch. The format is detected from the content."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "in"))
        for number, data in files.items():
            with open(os.path.join(folder, "in", f"{number:06}.png"), "wb") as file:
                file.write(data)
        command = [program, folder + "/in", folder + "/out/", "--stages", "depth:8", "--format", "png"]
        command += ["--png-level", "0", "--metadata", "strip", "--max-pixels", str(MAX_PIXELS), "--device", "cpu"]
        done = subprocess.run(command + options, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"{' '.join(command + options)}: exit {done.returncode}\n{done.stderr[-2000:]}")
        reasons = dict(re.findall(r"^imgpipe: \S*/in/(\d{6})\.png: (.*)$", done.stderr, re.MULTILINE))
        outcomes = {}
        for number in files:
            path = os.path.join(folder, "out", f"{number:06}.png")
            outcomes[number] = Outcome(None, reasons.get(f"{number:06}", "no output"))
            if os.path.exists(path):
                with Image.open(path) as image:
                    outcomes[number] = Outcome(numpy.asarray(image.convert("RGB")), "")
    return outcomes


def difference(expected, got):
    """Where two images differ, or ''."""
    if expected.shape != got.shape:
        return f"{expected.shape[1]} x {expected.shape[0]} in Pillow, {got.shape[1]} x {got.shape[0]} in imgpipe"
    wrong = numpy.argwhere((expected != got).any(axis=2))
    if len(wrong) == 0:
        return ""
    y, x = wrong[0]
    most = numpy.abs(expected.astype(int) - got).max()
    return f"{len(wrong)} pixels differ by up to {most}, first ({x}, {y}): {expected[y, x]} in Pillow, {got[y, x]}"
