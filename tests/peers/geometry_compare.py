#!/usr/bin/env python3
"""Compares flip, rotate, crop, pad, rgb, flatten and channel with Pillow, and the first three with OpenCV, pixel by
pixel, on generated images.

    geometry_compare.py IMGPIPE [DEVICE...]

Grey, grey with alpha, RGB and RGBA of awkward sizes, as PNG, on every named device (default: cpu and reference). Needs
Pillow; OpenCV's checks run if it is installed. Exit 0: all equal; 1: a difference; 77: Pillow is missing, nothing was
compared.
"""
import os
import random
import subprocess
import sys
import tempfile

from peer_libraries import Image, cv2
from PIL import ImageColor  # after it: the import above skips the script without Pillow

MODES = ("L", "LA", "RGB", "RGBA")
SIZES = ((1, 1), (1, 7), (7, 1), (16, 16), (33, 17), (65, 127), (130, 64), (301, 203))
PILLOW = {"flip": Image.FLIP_LEFT_RIGHT, "flip:vertical": Image.FLIP_TOP_BOTTOM, "rotate:90": Image.ROTATE_270,
          "rotate:180": Image.ROTATE_180, "rotate:270": Image.ROTATE_90}


def rectangles(width, height):
    """(step of --stages, (left, upper, right, lower)) pairs."""
    yield f"crop:{width}x1+0+{height - 1}", (0, height - 1, width, height)
    yield f"crop:1x{height}+{width - 1}+0", (width - 1, 0, width, height)
    w, h = (width + 1) // 2, (height + 2) // 3
    x, y = (width - w) // 2, (height - h) // 2
    yield f"crop:{w}x{h}", (x, y, x + w, y + h)
    yield f"crop:{w}x{h}:y=0", (x, 0, x + w, h)


def made_by(program, device, source, folder, step):
    target = os.path.join(folder, "out.png")
    subprocess.run([program, source, target, "-q", "--overwrite", "--device", device, "--stages", step], check=True)
    return target


def on_canvas(image, size, color, offset):
    made = Image.new(image.mode, size, ImageColor.getcolor(color, image.mode))
    made.paste(image, offset)
    return made


def pad_checks(image):
    """Odd and even differences; positions with one and with two sides."""
    (w, h), color = image.size, "#ff8040c0"
    for x, y, words, across, down in ((5, 7, "", 2, 4), (3, 1, ":left", 0, 0), (0, 9, ":bottom", 0, 9),
                                      (70, 2, ":top-right", 70, 0)):
        yield f"pad:{w + x}x{h + y}:{color}{words}", on_canvas(image, (w + x, h + y), color, (across, down))
    outside = "transparent" if image.mode.endswith("A") else "black"
    left, top = -3, (h - (h + 1) // 2) // 2
    yield f"crop:{w + 5}x{(h + 1) // 2}:pad={outside}", image.crop((left, top, left + w + 5, top + (h + 1) // 2))


def channel_checks(image):
    yield "rgb", image.convert("RGB")
    for number, letter in enumerate(image.getbands(), 1):
        yield f"channel:{number}", image.getchannel(number - 1)
        if letter != "L":
            yield f"channel:{letter.lower()}", image.getchannel(letter)
    for color in ("white", "#20c4f1"):
        mode = image.mode.removesuffix("A")
        ground = Image.new(mode, image.size, ImageColor.getcolor(color, mode))
        ground.paste(image.convert(mode), mask=image.getchannel("A") if "A" in image.mode else None)
        yield f"flatten:{color}", ground


def pillow_checks(image):
    yield from pad_checks(image)
    yield from channel_checks(image)
    for step, method in PILLOW.items():
        yield step, image.transpose(method)
    for step, box in rectangles(*image.size):
        yield step, image.crop(box)


def opencv_checks(pixels):
    yield "flip", cv2.flip(pixels, 1)
    yield "flip:vertical", cv2.flip(pixels, 0)
    yield "rotate:90", cv2.rotate(pixels, cv2.ROTATE_90_CLOCKWISE)
    yield "rotate:180", cv2.rotate(pixels, cv2.ROTATE_180)
    yield "rotate:270", cv2.rotate(pixels, cv2.ROTATE_90_COUNTERCLOCKWISE)


def same_as_pillow(path, expected):
    with Image.open(path) as got:
        return got.mode == expected.mode and got.size == expected.size and got.tobytes() == expected.tobytes()


def same_as_opencv(path, expected):
    got = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    return got.shape == expected.shape and got.dtype == expected.dtype and (got == expected).all()


def main():
    program, devices = sys.argv[1], sys.argv[2:] or ["cpu", "reference"]
    if cv2 is None:
        print("SKIPPED: the OpenCV checks; OpenCV is not installed")
    numbers = random.Random(18)
    failed = compared = 0
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "in.png")
        for mode in MODES:
            for width, height in SIZES:
                image = Image.frombytes(mode, (width, height), numbers.randbytes(width * height * len(mode)))
                image.save(source)
                checks = [("Pillow", same_as_pillow, *check) for check in pillow_checks(image)]
                # OpenCV converts grey with alpha.
                if cv2 is not None and mode != "LA":
                    checks += [("OpenCV", same_as_opencv, *check)
                               for check in opencv_checks(cv2.imread(source, cv2.IMREAD_UNCHANGED))]
                for device in devices:
                    for peer, same, step, expected in checks:
                        compared += 1
                        if not same(made_by(program, device, source, folder, step), expected):
                            failed += 1
                            print(f"DIFFERENT: {step} of {width}x{height} {mode} on {device} from {peer}'s")
    print(f"{compared - failed} of {compared} comparisons equal")
    sys.exit(1 if failed or not compared else 0)


main()
