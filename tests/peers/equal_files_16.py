#!/usr/bin/env python3
"""Compares 16-bit files with OpenCV and Pillow, sample by sample, in both directions.

    equal_files_16.py IMGPIPE

They read what imgpipe writes. OpenCV's files go through imgpipe (--stages invert,invert changes nothing) and are read
by OpenCV, by Pillow (grey) and by this script. Needs OpenCV; Pillow's checks run if it is installed. Exit 0: all equal;
1: a difference; 77: OpenCV is missing, nothing was compared.
"""
import os
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy
except ImportError:
    print("SKIPPED: OpenCV is not installed")
    sys.exit(77)
try:
    from PIL import Image
except ImportError:
    Image = None

SIZES = ((1, 1), (1, 57), (61, 1), (131, 97), (1021, 509))  # width, height


def run(program, *arguments):
    subprocess.run([program, *arguments, "-q", "--overwrite"], check=True)


def netpbm(path):
    """A raw PGM or PPM of maximum 65535, by the format's definition."""
    with open(path, "rb") as file:
        lines = []
        while len(lines) < 3:
            line = file.readline()
            if not line.startswith(b"#"):
                lines.append(line)
        kind, size, most = lines
        assert most == b"65535\n", most
        width, height = map(int, size.split())
        channels = {b"P5\n": 1, b"P6\n": 3}[kind]
        samples = numpy.frombuffer(file.read(), dtype=">u2").astype(numpy.uint16)
    return samples.reshape((height, width) if channels == 1 else (height, width, channels))


def opencv(path):
    """The image as RGB, RGBA or grey; grey with alpha becomes RGBA."""
    image = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    assert image.dtype == numpy.uint16, image.dtype
    if image.ndim == 2:
        return image
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB if image.shape[2] == 3 else cv2.COLOR_BGRA2RGBA)


def pillow_grey(path):
    with Image.open(path) as image:
        assert image.mode.startswith("I"), image.mode
        return numpy.asarray(image).astype(numpy.uint16)


def same(found, expected):
    return found.shape == expected.shape and numpy.array_equal(found, expected)


def written_by_imgpipe(program, folder, width, height):
    def made(name, channels):
        path = os.path.join(folder, name)
        run(program, "synth", path, "--pattern", "noise", "--seed", "9", "--size", f"{width}x{height}",
            "--depth", "16", "--channels", str(channels))
        return path

    grey, color = netpbm(made("g.pgm", 1)), netpbm(made("c.ppm", 3))
    yield "PGM by OpenCV", opencv(made("g.pgm", 1)), grey
    yield "PPM by OpenCV", opencv(made("c.ppm", 3)), color
    yield "grey PNG by OpenCV", opencv(made("g.png", 1)), grey
    yield "RGB PNG by OpenCV", opencv(made("c.png", 3)), color
    alpha = opencv(made("ca.png", 4))
    yield "RGBA PNG by OpenCV", alpha[:, :, :3], color
    both = opencv(made("ga.png", 2))
    yield "grey+alpha PNG by OpenCV", both, numpy.dstack([grey, grey, grey, alpha[:, :, 3]])
    if Image is not None:
        yield "grey PNG by Pillow", pillow_grey(os.path.join(folder, "g.png")), grey
        yield "PGM by Pillow", pillow_grey(os.path.join(folder, "g.pgm")), grey


def read_by_imgpipe(program, folder, width, height):
    random = numpy.random.default_rng(width * 10007 + height)
    for channels, ending in ((1, "png"), (3, "png"), (4, "png"), (1, "pgm"), (3, "ppm")):
        shape = (height, width) if channels == 1 else (height, width, channels)
        source = random.integers(0, 65536, shape, dtype=numpy.uint16)
        path = os.path.join(folder, "cv." + ending)
        assert cv2.imwrite(path, source)
        expected = opencv(path)
        for device in ("cpu", "reference"):
            result = os.path.join(folder, "out.png")
            run(program, path, result, "--stages", "invert,invert", "--device", device)
            yield f"OpenCV's {channels}-channel {ending} through {device}", opencv(result), expected
        if channels == 4:
            continue
        result = os.path.join(folder, "out.pgm" if channels == 1 else "out.ppm")
        run(program, path, result, "--stages", "invert,invert", "--device", "cpu")
        yield f"OpenCV's {channels}-channel {ending} as Netpbm", netpbm(result), expected
        if channels == 1 and Image is not None:
            yield f"OpenCV's grey {ending} by Pillow", pillow_grey(os.path.join(folder, "out.png")), expected


def main():
    program = sys.argv[1]
    failed = compared = 0
    if Image is None:
        print("SKIPPED: Pillow's checks; Pillow is not installed")
    with tempfile.TemporaryDirectory() as folder:
        for width, height in SIZES:
            for checks in (written_by_imgpipe, read_by_imgpipe):
                for name, found, expected in checks(program, folder, width, height):
                    compared += 1
                    if not same(found, expected):
                        failed += 1
                        print(f"DIFFERENT: {name}, {width}x{height}")
    print(f"{compared} comparisons, {failed} different")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
