#!/usr/bin/env python3
"""Computes sizes of resized images by the functions of Pillow, torchvision and transformers.

    resize_sizes.py TORCHVISION.whl          writes tests/kernels/resize_sizes.txt, which a test compares with resize
    resize_sizes.py TORCHVISION.whl --check  exit 1 unless it would write exactly this file

Needs Pillow and transformers; of torchvision only the wheel (pip download --no-deps torchvision), because its function
needs no torch. Exit 77: one is missing.
"""
import ast
import os
import random
import struct
import sys
import zipfile

try:
    from PIL import ImageOps
    from transformers.image_transforms import get_resize_output_image_size, get_size_with_aspect_ratio
    from transformers.models.sam.image_processing_sam import SamImageProcessor
except ImportError as error:
    print(f"not compared: {error}")
    sys.exit(77)

TARGET = os.path.join(os.path.dirname(__file__), "../kernels/resize_sizes.txt")
MOST = 2 ** 31 - 1


def torchvision_function(wheel):
    """_compute_resized_output_size() without the rest of its module."""
    with zipfile.ZipFile(wheel) as files:
        tree = ast.parse(files.read("torchvision/transforms/functional.py"))
    name = "_compute_resized_output_size"
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    for argument in function.args.args:
        argument.annotation = None  # typing is not imported
    names = {}
    exec(compile(ast.Module([function], []), name, "exec"), names)
    return names[name]


class Sized:
    """An image without pixels: resize() notes its size and box."""

    def __init__(self, size, box=None):
        self.size, self.box, self.mode = size, box, "L"
        self.width, self.height = size

    def resize(self, size, resample=None, box=None):
        return Sized(size, box)


class Shaped:
    """An array without elements."""

    def __init__(self, width, height):
        self.shape, self.ndim = (height, width, 3), 3


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def sizes_of(torchvision, width, height, n, m):
    """All sizes of one image, and the edges of the box of fit=cover; n < m."""
    hw, image = (height, width), Sized((width, height))
    array = Shaped(width, height)
    cover, contain = ImageOps.cover(image, (n, n)).size, ImageOps.contain(image, (m, m)).size
    sizes = [size[::-1] for size in (
        get_resize_output_image_size(array, n, default_to_square=False, input_data_format="channels_last"),
        SamImageProcessor._get_preprocess_shape(None, hw, m),
        get_size_with_aspect_ratio(hw, n, m),
        torchvision(hw, [n]),
        torchvision(hw, None, m, allow_size_none=True),
        torchvision(hw, [n], m),
    )]
    sizes += [cover, contain, cover if max(cover) <= m else contain, ImageOps.contain(image, (n, m)).size]
    sizes = [tuple(min(max(side, 1), MOST) for side in size) for size in sizes]
    return sizes, [single(edge) for edge in ImageOps.fit(image, (n, m)).box]


def lines(wheel):
    torchvision = torchvision_function(wheel)
    rng = random.Random(34)
    side = lambda: rng.randint(1, rng.choice([3, 40, 700, 3000, 60000]))
    for i in range(300):
        width, height = side(), side()
        if i % 25 == 0:
            width, height = rng.randint(1, MOST), rng.randint(1, MOST)
        if i % 10 == 0:
            height = width
        n, m = sorted(rng.sample(range(1, rng.choice([8, 300, 3000])), 2))
        sizes, box = sizes_of(torchvision, width, height, n, m)
        yield f"{width} {height} {n} {m} {' '.join(f'{w} {h}' for w, h in sizes)} {' '.join(map(float.hex, box))}\n"


def main():
    text = "".join(lines(sys.argv[1]))
    if sys.argv[2:] == ["--check"]:
        with open(TARGET, encoding="ascii") as file:
            sys.exit(0 if file.read() == text else f"{TARGET}: differs from the libraries' results")
    with open(TARGET, "w", encoding="ascii") as file:
        file.write(text)


if __name__ == "__main__":
    main()
