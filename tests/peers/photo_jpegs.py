"""Photograph-like JPEGs for the benchmarks of the Python package, and the pixels that Pillow makes of them."""
import concurrent.futures
import io
import itertools
import multiprocessing
import os

import numpy as np
from PIL import Image, ImageDraw

from models_cases import MEANS, RULE

SIDE = 224
STAGES = f"rgb,resize:{SIDE}:{SIDE}:bilinear{RULE}"
TENSOR_STAGES = f"{STAGES},normalize:imagenet:formula=totensor:dtype=float16"


def octaves(numbers, width, height, count, amplitude):
    """Noise whose amplitude falls with its frequency, as in photographs: height x width floats around 0."""
    total = np.zeros((height, width), np.float32)
    for octave in range(count):
        across = 4 << octave
        noise = numbers.standard_normal((max(1, across * height // width), across), np.float32)
        total += amplitude * 0.6**octave * np.asarray(Image.fromarray(noise).resize((width, height), Image.BICUBIC))
    return total


def photo(width, height, seed):
    """An RGB image: light and colour that vary at every scale, objects with edges, grain."""
    numbers = np.random.default_rng(seed)
    light = 120 + octaves(numbers, width, height, max(3, (width // 4).bit_length() - 1), 45)
    blue, red = (octaves(numbers, width, height, 3, 25) for _ in "ab")
    image = Image.fromarray(np.clip(np.dstack([light + red, light - (red + blue) / 3, light + blue]), 0, 255)
                            .astype(np.uint8))
    draw = ImageDraw.Draw(image, "RGBA")
    for _ in range(30):
        x, y = numbers.integers(0, width), numbers.integers(0, height)
        size = int(min(width, height) * numbers.uniform(0.01, 0.25))
        shape = draw.ellipse if numbers.random() < 0.5 else draw.rectangle
        shape((x, y, x + size, y + size), tuple(map(int, numbers.integers(0, 255, 3))) + (110,))
    grain = numbers.standard_normal((height, width, 1), np.float32) * 4
    return Image.fromarray(np.clip(np.asarray(image) + grain, 0, 255).astype(np.uint8))


def jpeg(width, height, seed, quality=94):
    file = io.BytesIO()
    photo(width, height, seed).save(file, "JPEG", quality=quality, subsampling="4:2:0")
    return file.getvalue()


def jpegs(width, height, distinct):
    """That many different JPEGs. Uses every processor; call it before CUDA is used."""
    with concurrent.futures.ProcessPoolExecutor(len(os.sched_getaffinity(0)),
                                                multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(jpeg, itertools.repeat(width, distinct), itertools.repeat(height), range(distinct)))


def repeated(items, count):
    return list(itertools.islice(itertools.cycle(items), count))


def pillow_pixels(data):
    """Pillow's decoded and resized image, SIDE x SIDE x 3."""
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB").resize((SIDE, SIDE), Image.BILINEAR))


def normalised(pixels):
    """The float16 tensor of torchvision's ToTensor, Normalize and half(): 3 x SIDE x SIDE."""
    mean, std = (np.asarray(values, np.float32) for values in MEANS["imagenet"])
    return ((pixels.astype(np.float32) / np.float32(255) - mean) / std).astype(np.float16).transpose(2, 0, 1)


def levels(tensors):
    """The values of tensors N x 3 x SIDE x SIDE as levels from 0 to 255, not rounded."""
    mean, std = (np.asarray(values, np.float32).reshape(3, 1, 1) for values in MEANS["imagenet"])
    return (tensors.astype(np.float32) * std + mean) * 255
