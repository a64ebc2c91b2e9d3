#!/usr/bin/env python3
"""Compares tensors with those of transformers' numpy processors and torchvision's transforms, bit for bit.

    models_compare.py SERVER [--images N] [--seed N] [--only NAME] [--device DEVICE]

SERVER is build/release/tests/stage_server. Uses the installed Pillow, transformers and torchvision, and skips a missing
library. For other versions, run it in their virtual environment:

    python3 -m venv DIRECTORY && DIRECTORY/bin/pip install torch==2.5.1 torchvision==0.20.1 transformers==4.57.6 \\
        pillow==12.3.0 && DIRECTORY/bin/python tests/peers/models_compare.py build/release/tests/stage_server

Exit code 0: all equal; 1: a difference; 77: neither library is installed.
"""
import argparse
import importlib
import os
import random
import sys

try:
    import numpy as np
    from PIL import Image
    from PIL import __version__ as PILLOW
except ImportError as missing_library:
    print(f"SKIPPED: {missing_library}")
    sys.exit(77)

import models_cases
from stage_server import StageError, StageServer

os.environ.setdefault("HF_HUB_OFFLINE", "1")
AWKWARD = [(1, 1), (1, 300), (300, 2), (223, 225), (224, 224), (225, 224), (256, 256), (257, 400), (640, 481)]


def imported(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"SKIPPED: {name}: {error}")
        return None


def checks():
    """The comparisons that the installed libraries allow."""
    transformers, torch, torchvision = map(imported, ("transformers", "torch", "torchvision"))
    versions = [f"Pillow {PILLOW}"]
    found = []
    if transformers:
        versions.append(f"transformers {transformers.__version__}")
        transformers.logging.set_verbosity_error()
        found += [*models_cases.transformers_checks(transformers), models_cases.Alpha(transformers)]
    if torch and torchvision:
        versions.append(f"torchvision {torchvision.__version__}")
        found += models_cases.torchvision_checks(torch, torchvision)
        if transformers:
            found.append(models_cases.Fused(transformers))
    return found, ", ".join(versions)


class OnDevice:
    """Passes the runs of a check to one device."""

    def __init__(self, server, device):
        self.server, self.device = server, device
        self.image = server.image

    def run(self, stages):
        return self.server.run(stages, self.device)


def difference(got, expected):
    """What differs, or an empty string. Floats are compared as bits."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"{got.shape} {got.dtype}, expected {expected.shape} {expected.dtype}"
    got, expected = np.ascontiguousarray(got), np.ascontiguousarray(expected)
    if got.tobytes() == expected.tobytes():
        return ""
    bits = np.dtype(f"u{got.itemsize}")
    where = np.argwhere(got.view(bits) != expected.view(bits))
    first = tuple(map(int, where[0]))
    return f"{len(where)} of {got.size} values, first at {first}: {got[first]}, expected {expected[first]}"


def sizes(count, seed):
    numbers = random.Random(seed)
    for number in range(count):
        yield AWKWARD[number] if number < len(AWKWARD) else tuple(int(2 ** numbers.uniform(3, 10.3)) for _ in "wh")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--images", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    server = OnDevice(StageServer(options.server), options.device)
    found, versions = checks()
    if not found:
        return 77
    failed = False
    for check in found:
        if options.only not in check.name:
            continue
        tensors = values = different = 0
        for number, (width, height) in enumerate(sizes(options.images, options.seed)):
            noise = np.random.Generator(np.random.PCG64([options.seed, number])).integers(0, 256, (height, width, 3))
            image = Image.fromarray(noise.astype(np.uint8))
            server.image(np.asarray(image))
            try:
                for stages, got, expected in check.results(image, server):
                    tensors, values = tensors + 1, values + expected.size
                    what = difference(got, expected)
                    if what:
                        different += 1
                        print(f"DIFFERENT: {check.name}: {width}x{height} (image {number}): {stages}: {what}")
            except StageError as error:
                different += 1
                print(f"DIFFERENT: {check.name}: {width}x{height} (image {number}): imgpipe: {error}")
        failed = failed or different > 0 or not tensors
        print(f"{check.name}: {different} of {tensors} tensors different ({values} values)", flush=True)
    print(f"{'DIFFERENT' if failed else 'equal'}: {versions}, {options.device}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
