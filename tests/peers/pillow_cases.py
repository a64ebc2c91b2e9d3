"""Random cases for pillow_compare.py: an image, a list of stages, and Pillow's result of the same."""
import random
from fractions import Fraction

import numpy as np
from PIL import Image, ImageOps
from PIL import __version__ as PILLOW

VERSION = tuple(map(int, PILLOW.split(".")[:2]))
FILTERS = {"box": Image.BOX, "bilinear": Image.BILINEAR, "hamming": Image.HAMMING, "bicubic": Image.BICUBIC,
           "lanczos": Image.LANCZOS}
# Before 13.0, I;16 is resized by other arithmetic, or not at all.
MODES = ("L", "LA", "RGB", "RGBA") + (("I;16",) if VERSION >= (13, 0) else ())
RULE = "" if VERSION >= (13, 0) else ":rule=pillow12"
LARGEST = 3000
# Before 12.2, Pillow resizes very tall images as it does others.
MOST_TALL = 100 if VERSION < (12, 2) else LARGEST


def random_side(numbers):
    """1 to LARGEST, each power of two as likely as the next."""
    return min(LARGEST, int(2 ** numbers.uniform(0, np.log2(LARGEST + 1))))


def random_image(numbers, mode, size):
    """Noise, ramps, or the two extremes, where filters overshoot most."""
    channels = len(Image.new(mode, (1, 1)).getbands())
    dtype, white = (np.uint16, 65535) if mode == "I;16" else (np.uint8, 255)
    made = np.random.Generator(np.random.PCG64(numbers.getrandbits(64)))
    shape = (size[1], size[0]) if channels == 1 else (size[1], size[0], channels)
    content = numbers.choice(("noise", "noise", "ramp", "extremes"))
    if content == "noise":
        samples = made.integers(0, white + 1, shape, dtype)
    elif content == "extremes":
        samples = made.integers(0, 2, shape, dtype) * dtype(white)
    else:
        step = numbers.randrange(1, white)
        samples = (np.arange(np.prod(shape)).reshape(shape) * step // 7 % (white + 1)).astype(dtype)
    if mode in ("LA", "RGBA") and numbers.random() < 0.7:
        opaque = made.integers(0, 3, shape[:2])
        samples[..., -1] = np.where(opaque == 0, 0, np.where(opaque == 1, white, samples[..., -1]))
    return Image.fromarray(samples, mode) if VERSION < (11, 3) else Image.fromarray(samples)


def random_color(numbers, mode):
    return "#" + "".join(f"{numbers.randrange(256):02x}" for _ in range(4 if mode in ("LA", "RGBA") else 3))


# Each kind of case returns (stages, Pillow's result), or None if Pillow refuses it.

def exact(numbers, image, method):
    size = random_side(numbers), random_side(numbers)
    return f"resize:{size[0]}:{size[1]}:{method}{RULE}", image.resize(size, FILTERS[method])


def one_axis(numbers, image, method):
    """The axis that keeps its size is not filtered."""
    side = random_side(numbers)
    size = (image.width, side) if numbers.random() < 0.5 else (side, image.height)
    return f"resize:{size[0]}:{size[1]}:{method}{RULE}", image.resize(size, FILTERS[method])


def cover(numbers, image, method):
    size = random_side(numbers), random_side(numbers)
    return (f"resize:{size[0]}:{size[1]}:{method}:fit=cover{RULE}",
            ImageOps.fit(image, size, method=FILTERS[method]))


def fits(image, size):
    """Whether a side of the contained image would round to 0, which Pillow refuses."""
    scale = min(Fraction(size[0], image.width), Fraction(size[1], image.height))
    return min(image.width * scale, image.height * scale) > Fraction(1, 2)


def contain(numbers, image, method):
    size = random_side(numbers), random_side(numbers)
    if image.mode == "I;16" or not fits(image, size):
        return None
    color = random_color(numbers, image.mode)
    return (f"resize:{size[0]}:{size[1]}:{method}:fit=contain:background={color}{RULE}",
            ImageOps.pad(image, size, method=FILTERS[method], color=color))


def edge_sizes(size, shortest, longest):
    """{sizes: size} by each library's rule. An edge of 0 is not given."""
    width, height = size
    short, long = min(size), max(size)
    made = {}
    if not longest:
        made["pillow"] = shortest, round(long / short * shortest)
        made["torchvision"] = made["transformers"] = shortest, int(shortest * long / short)
    elif not shortest:
        made["pillow"] = round(short / long * longest), longest
        made["torchvision"] = int(longest * short / long), longest
        made["transformers"] = tuple(int(side * (longest / long) + 0.5) for side in (short, long))
    else:
        other = int(shortest * long / short)
        if longest > shortest:
            made["torchvision"] = (int(longest * shortest / other), longest) if other > longest else (shortest, other)
        edge, raw = shortest, shortest
        if long / short * shortest > longest:
            raw = longest * short / long
            edge = int(round(raw))
        made["transformers"] = (short, long) if edge == short else (edge, int(raw * long / short))
        other = round(long / short * shortest)
        made["pillow"] = (shortest, other) if other <= longest else (round(short / long * longest), longest)
    return {name: pair if width <= height else pair[::-1] for name, pair in made.items()
            if 1 <= min(pair) and max(pair) <= 2 * LARGEST}


def edge(numbers, image, method):
    kind = numbers.randrange(3)
    shortest, longest = (0 if kind == 0 else random_side(numbers)), (0 if kind == 1 else random_side(numbers))
    made = edge_sizes(image.size, shortest, longest)
    if not made:
        return None
    name = numbers.choice(sorted(made))
    edges = (f":shortest={shortest}" if shortest else "") + (f":longest={longest}" if longest else "")
    return f"resize{edges}:sizes={name}:method={method}{RULE}", image.resize(made[name], FILTERS[method])


def percent(numbers, image, method):
    share = numbers.randrange(1, 300)
    size = tuple((2 * side * share + 100) // 200 for side in image.size)
    if min(size) < 1 or max(size) > LARGEST:
        return None
    return f"resize:{share}%:{method}{RULE}", image.resize(size, FILTERS[method])


def crop_after(numbers, image, method):
    """A resize, and a part of its result."""
    stages, made = exact(numbers, image, method)
    width, height = numbers.randint(1, made.width), numbers.randint(1, made.height)
    x, y = numbers.randint(0, made.width - width), numbers.randint(0, made.height - height)
    return f"{stages},crop:{width}x{height}+{x}+{y}", made.crop((x, y, x + width, y + height))


def flatten(numbers, image, _):
    if image.mode not in ("LA", "RGBA"):
        return None
    color = random_color(numbers, "RGB")
    background = Image.new("RGBA", image.size, color)
    if image.mode == "LA":
        color = "#" + color[1:3] * 3
        background = Image.new("RGBA", image.size, color)
    made = Image.alpha_composite(background, image.convert("RGBA")).convert("RGB")
    return f"flatten:{color}", made.convert("L") if image.mode == "LA" else made


def rgb(_, image, __):
    return ("rgb", image.convert("RGB")) if image.mode not in ("RGB", "I;16") else None


def channel(numbers, image, _):
    bands = image.getbands()
    chosen = numbers.randrange(len(bands))
    return (f"channel:{chosen + 1}", image.getchannel(chosen)) if len(bands) > 1 else None


KINDS = {exact: 10, one_axis: 2, cover: 4, contain: 3, edge: 4, percent: 1, crop_after: 1, flatten: 1, rgb: 1,
         channel: 1}


class Case:
    """Case `number` of a seed: the same on every machine."""

    def __init__(self, seed, number):
        numbers = random.Random(f"{seed}:{number}")
        self.made = None
        while self.made is None:
            self.mode = numbers.choice(MODES)
            size = random_side(numbers), random_side(numbers)
            if size[1] > MOST_TALL * size[0]:
                continue
            self.image = random_image(numbers, self.mode, size)
            method = numbers.choice(tuple(FILTERS))
            kind = numbers.choices(tuple(KINDS), tuple(KINDS.values()))[0]
            self.made = kind(numbers, self.image, method)
        self.stages, self.expected = self.made
        self.threads = numbers.choice((1, 1, 2, 3))


def file_cases(image):
    """(stages, Pillow's result) for an image from a file."""
    for method, number in FILTERS.items():
        for size in ((224, 224), (image.width * 2 // 3 + 1, image.height // 5 + 1), (image.width + 97, 31)):
            yield f"resize:{size[0]}:{size[1]}:{method}{RULE}", image.resize(size, number)
    yield f"resize:160:90:bicubic:fit=cover{RULE}", ImageOps.fit(image, (160, 90), method=Image.BICUBIC)
