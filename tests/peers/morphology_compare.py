#!/usr/bin/env python3
"""Compares erode, dilate, tophat and colormap with OpenCV's, or posterize, brightness and saturation with Pillow's.

    morphology_compare.py IMGPIPE opencv|pillow [--device NAME]... [--images COUNT] [--seed SEED]

Random images from 1x1 on, of two values and of all, of 8 and 16 bits, grey, colour and with alpha; windows up to many
times as large as the image. Pillow has no posterize of 16 bits: these are compared with numpy, without alpha;
brightness, saturation and colormap with 8 bits only. Without --device: reference and cpu. Exit 0: all equal; 1: a
difference; 77: a library is missing, nothing was compared.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

SIDES = (1, 1, 2, 3, 5, 7, 16, 31, 33, 64, 65, 127, 129, 257)
RADII = (1, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 100, 127)

try:
    import numpy as np
    if "opencv" in sys.argv:
        import cv2
    else:
        from PIL import Image, ImageEnhance, ImageOps
except ImportError as missing:
    print(f"SKIPPED: {missing.name} is not installed")
    sys.exit(77)


def made_image(chance, deep, channels):
    """Rows of pixels; with two channels or four the last is alpha."""
    shape = chance.choice(SIDES), chance.choice(SIDES), channels
    most = 65535 if deep else 255
    samples = np.array([chance.randint(0, most) for _ in range(shape[0] * shape[1] * shape[2])]).reshape(shape)
    if chance.random() < 0.3:
        samples = np.where(samples < most // 9, 0, most)
    return samples.astype(np.uint16 if deep else np.uint8)


def write(path, image):
    height, width, channels = image.shape
    if path.endswith(".pnm"):
        head = f"P{5 if channels == 1 else 6} {width} {height} {np.iinfo(image.dtype).max}\n"
        with open(path, "wb") as file:
            file.write(head.encode() + image.astype(image.dtype.newbyteorder(">")).tobytes())
    elif "opencv" in sys.argv:
        cv2.imwrite(path, cv2.cvtColor(image, cv2.COLOR_RGBA2BGRA))
    else:
        Image.fromarray(image).save(path)


def read(path, like):
    if path.endswith(".pnm"):
        with open(path, "rb") as file:
            return np.frombuffer(file.read()[-like.nbytes:], like.dtype.newbyteorder(">")).reshape(like.shape)
    if "opencv" in sys.argv:
        return cv2.cvtColor(cv2.imread(path, cv2.IMREAD_UNCHANGED), cv2.COLOR_BGRA2RGBA)
    with Image.open(path) as image:
        return np.array(image)


def morphology(chance, color):
    if color.dtype == np.uint8 and color.shape[2] == 1 and chance.random() < 0.3:
        name = chance.choice(("viridis", "magma", "turbo"))
        bgr = cv2.applyColorMap(np.ascontiguousarray(color), getattr(cv2, "COLORMAP_" + name.upper()))
        return f"colormap:{name}", bgr[:, :, ::-1]
    name, radius = chance.choice(("erode", "dilate", "tophat:white", "tophat:black")), chance.choice(RADII)
    kernel = np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)
    if name.startswith("tophat"):
        kind = cv2.MORPH_TOPHAT if name.endswith("white") else cv2.MORPH_BLACKHAT
        made = cv2.morphologyEx(np.ascontiguousarray(color), kind, kernel).reshape(color.shape)
        return f"tophat:{radius}:{name.split(':')[1]}", made
    return f"{name}:{radius}", getattr(cv2, name)(np.ascontiguousarray(color), kernel).reshape(color.shape)


def enhanced(chance, color):
    bits = chance.randint(1, 8)
    if color.dtype == np.uint16:
        return f"posterize:{bits}", color & np.uint16(0x10000 - (0x10000 >> bits))
    image = Image.fromarray(color[:, :, 0] if color.shape[2] == 1 else color)
    if chance.random() < 0.6:
        name, enhancer = chance.choice((("brightness", ImageEnhance.Brightness), ("saturation", ImageEnhance.Color)))
        factor = chance.choice((0, 1, chance.randint(0, 300) / 100, chance.randint(0, 10 ** 8) / 10 ** 6))
        return f"{name}:{factor:.6f}", np.array(enhancer(image).enhance(factor)).reshape(color.shape)
    return f"posterize:{bits}", np.array(ImageOps.posterize(image, bits)).reshape(color.shape)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("peer", choices=("opencv", "pillow"))
    parser.add_argument("--device", action="append")
    parser.add_argument("--images", type=int, default=150)
    parser.add_argument("--seed", type=int, default=32)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.images):
            deep = number % 2 == 1
            channels = (1, 3, 4) if options.peer == "opencv" else (1, 3) if deep else (1, 2, 3, 4)
            image = made_image(chance, deep, chance.choice(channels))
            ending = ".pnm" if image.shape[2] % 2 else ".png"
            source, target = os.path.join(folder, "in" + ending), os.path.join(folder, "out" + ending)
            colors = image.shape[2] - (image.shape[2] + 1) % 2
            step, color = (morphology if options.peer == "opencv" else enhanced)(chance, image[:, :, :colors])
            expected = np.dstack([color, image[:, :, colors:]])
            write(source, image)
            for device in options.device or ["reference", "cpu"]:
                subprocess.run([options.program, source, target, "-q", "--overwrite", "--device", device, "--stages",
                                step], check=True)
                wrong = np.argwhere(read(target, expected) != expected)
                if len(wrong):
                    failed += 1
                    print(f"DIFFERENT: {step} on {device}, image {number} of seed {options.seed}, {image.shape}, "
                          f"{image.dtype}: {len(wrong)} samples, the first at y, x, channel {wrong[0].tolist()}")
    print(f"{failed} differences in {options.images} images")
    sys.exit(1 if failed else 0)


main()
