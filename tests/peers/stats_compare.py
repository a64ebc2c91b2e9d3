#!/usr/bin/env python3
"""Compares imgpipe stats with NumPy over real images.

    stats_compare.py IMGPIPE IMAGE_OR_FOLDER...

All images that Pillow reads as 8-bit grey or RGB, with or without alpha, go to one imgpipe stats, and through Pillow to
NumPy. Samples, least, most and the percentiles of numpy.percentile(method="inverted_cdf") must be equal; mean and
deviation must be the doubles nearest to the exact fractions, and within 1e-12 of numpy.mean and numpy.std. Needs NumPy
and Pillow. Exit 0: all equal; 1: a difference; 77: NumPy or Pillow is missing, nothing was compared.
"""
import json
import os
import subprocess
import sys
from fractions import Fraction
from math import isqrt

try:
    import numpy
    from PIL import Image
except ImportError as error:
    print(f"SKIPPED: {error.name} is not installed")
    sys.exit(77)

PERCENTILES = ["0", "0.1", "1", "5", "12.5", "25", "50", "75", "95", "99", "99.9", "100"]
NAMES = {"L": ["grey"], "LA": ["grey", "alpha"], "RGB": ["red", "green", "blue"],
         "RGBA": ["red", "green", "blue", "alpha"]}


def files_of(arguments):
    for argument in arguments:
        if not os.path.isdir(argument):
            yield argument
            continue
        for folder, _, names in sorted(os.walk(argument)):
            yield from (os.path.join(folder, name) for name in sorted(names))


def samples_of(path):
    """(group, {channel: samples}), or None if it is not compared."""
    try:
        with Image.open(path) as image:
            if image.format not in ("JPEG", "PNG") or image.mode not in NAMES or "transparency" in image.info:
                return None
            if image.format == "PNG":
                with open(path, "rb") as file:
                    if file.read(25)[24] == 16:  # bits per sample
                        return None
            pixels = numpy.asarray(image)
    except Exception:  # no peer for files that Pillow cannot read
        return None
    names = NAMES[image.mode]
    planes = pixels.reshape(-1, len(names))
    return ("rgb" if len(names) > 2 else "grey"), {name: planes[:, i] for i, name in enumerate(names)}


def rounded_root(radicand, divisor):
    """The double nearest to sqrt(radicand) / divisor."""
    scaled = radicand << 800
    root = isqrt(scaled)
    return float(Fraction(root, divisor << 400) + (Fraction(1, divisor << 402) if root * root != scaled else 0))


def expected(samples):
    counts = [int(count) for count in numpy.bincount(samples, minlength=256)]
    number = sum(counts)
    total = sum(v * n for v, n in enumerate(counts))
    radicand = number * sum(v * v * n for v, n in enumerate(counts)) - total * total
    values = {"samples": number, "min": int(samples.min()), "max": int(samples.max()),
              "mean": float(Fraction(total, number)), "deviation": rounded_root(radicand, number),
              "unit mean": float(Fraction(total, number * 255)), "unit deviation": rounded_root(radicand, number * 255)}
    for percent in PERCENTILES:
        share = numpy.percentile(samples, float(percent), method="inverted_cdf")
        values[percent] = int(share)
    return values, counts


def given(channel):
    values = {key: channel[key] for key in ("samples", "min", "max", "mean", "deviation")}
    values |= {"unit " + key: channel["unit"][key] for key in ("mean", "deviation")}
    return values | channel["percentiles"]


def near(a, b):
    return abs(a - b) <= 1e-12 * max(1, abs(b))


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    program = arguments[0]
    images = {path: found for path in files_of(arguments[1:]) if (found := samples_of(path))}
    run = subprocess.run([program, "stats", "--files-from", "-", "--json", "-", "-q",
                          "--percentiles", ",".join(PERCENTILES)],
                         input="\n".join(images) + "\n", capture_output=True, text=True, check=False)
    report = json.loads(run.stdout)
    for failure in report["failures"]:  # both statistics exclude files that imgpipe rejects
        del images[failure["input"]]
    problems = [] if report["counted"] == len(images) else [f"{report['counted']} of {len(images)} were counted"]
    groups = {}
    for group, channels in images.values():
        for name, samples in channels.items():
            groups.setdefault(group, {}).setdefault(name, []).append(samples)
    histograms = {entry["group"]: entry["counts"] for entry in report["histograms"]}
    shown = {group["group"]: group for group in report["groups"]}
    if set(shown) != set(groups):
        problems.append(f"groups {set(shown)} and {set(groups)}")
    compared = 0
    for group, channels in groups.items():
        for name, pieces in channels.items():
            samples = numpy.concatenate(pieces)
            values, counts = expected(samples)
            got = given(shown[group]["channels"][name])
            problems += [f"{group} {name} {key}: imgpipe {got.get(key)}, here {value}"
                         for key, value in values.items() if got.get(key) != value]
            if histograms[group][name] != counts:
                problems.append(f"{group} {name}: other counts")
            wide = samples.astype(numpy.float64)
            if not (near(got["mean"], wide.mean()) and near(got["deviation"], wide.std())):
                problems.append(f"{group} {name}: numpy has {wide.mean()} and {wide.std()}")
            compared += len(values) + 3
    print("\n".join(problems) if problems else f"equal: {compared} numbers of {len(images)} images; "
          f"{len(report['failures'])} were refused by imgpipe")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
