"""Part of oracle.py: crops, padding, colours, and stages that take or leave channels and alpha."""
from fractions import Fraction

from plane import Refused, half_up, has_alpha

COLORS = {"transparent": "#00000000", "white": "#ffffff", "black": "#000000", "red": "#ff0000"}


def color_of(planes, text):
    """The samples of a colour, a name or #RRGGBB[AA], in the planes of an image."""
    digits = COLORS.get(text, text).lstrip("#").ljust(8, "f")
    r, g, b, alpha = (int(digits[i:i + 2], 16) for i in range(0, 8, 2))
    color = [r, g, b] if len(planes) > 2 else [half_up(Fraction(19595 * r + 38470 * g + 7471 * b, 1 << 16))]
    return [v * p.white // 255 for v, p in zip(color + [alpha], planes)]


def canvas(planes, left, top, width, height, color):
    """The rectangle at (left, top) of the plane around an image; `color` has a sample for each plane."""
    h, w = len(planes[0]), len(planes[0][0])
    inside = lambda x, y: 0 <= x < w and 0 <= y < h
    return [[[p[y][x] if inside(x, y) else v for x in range(left, left + width)] for y in range(top, top + height)]
            for p, v in zip(planes, color)]


def centred(of, size, rule):
    if rule == "torchvision":
        return -((size - of) // 2) if of < size else round(Fraction(of - size, 2))  # halves to even
    return (of - size) // 2  # rounded down


def crop(planes, *values, **named):
    if "x" in values[0]:  # WxH, WxH+X+Y
        size, *offsets = values[0].split("+")
        values = (*size.split("x"), *offsets, *values[1:])
    given = {**dict(zip(("width", "height", "x", "y"), values)), **named}
    width, height, x, y = (given.get(name, "center") for name in ("width", "height", "x", "y"))
    h, w, width, height = len(planes[0]), len(planes[0][0]), int(width), int(height)
    left = centred(w, width, given.get("rule")) if x == "center" else int(x)
    top = centred(h, height, given.get("rule")) if y == "center" else int(y)
    if given.get("pad", "none") != "none":
        return canvas(planes, left, top, width, height, color_of(planes, given["pad"]))
    if left < 0 or top < 0 or left + width > w or top + height > h:
        raise Refused
    return [[row[left:left + width] for row in p[top:top + height]] for p in planes]


def trim(planes, *values, **named):
    """The rectangle around all pixels that differ from the background; all of it if none does."""
    given = {"fuzz": 0, "color": "corner", **dict(zip(("fuzz", "color"), values)), **named}
    color = [p[0][0] for p in planes] if given["color"] == "corner" else color_of(planes, given["color"])
    found = [(x, y) for y in range(len(planes[0])) for x in range(len(planes[0][0]))
             if any(abs(p[y][x] - v) > int(given["fuzz"]) for p, v in zip(planes, color))]
    if not found:
        return planes
    (left, right), (top, bottom) = ((min(along), max(along)) for along in zip(*found))
    return [[row[left:right + 1] for row in p[top:bottom + 1]] for p in planes]


def pad(planes, size, color, position="center"):
    (width, height), h, w = map(int, size.split("x")), len(planes[0]), len(planes[0][0])
    if width < w or height < h:
        raise Refused
    offset = lambda rest, low, high: 0 if low in position else rest if high in position else round(Fraction(rest, 2))
    left, top = offset(width - w, "left", "right"), offset(height - h, "top", "bottom")
    return canvas(planes, -left, -top, width, height, color_of(planes, color))


POSITIONS = ["northwest", "north", "northeast", "west", "center", "east", "southwest", "south", "southeast"]


def over(planes, second, position="northwest", x="0", y="0", opacity="1"):
    """The second image, whose alpha is the last plane if it has one, over an image."""
    h, w, white, colors = len(planes[0]), len(planes[0][0]), planes[0].white, len(planes) - has_alpha(planes)
    high, wide, at = len(second[0]), len(second[0][0]), POSITIONS.index(position)
    offset = lambda part, inwards, rest: (inwards, int(Fraction(rest, 2) + inwards), rest - inwards)[part]
    left, top = offset(at % 3, int(x), w - wide), offset(at // 3, int(y), h - high)
    made = [[list(row) for row in p] for p in planes]
    for j in range(max(0, top), min(h, top + high)):
        for i in range(max(0, left), min(w, left + wide)):
            pixel = [p[j - top][i - left] for p in second]
            upper = Fraction(half_up(Fraction(opacity) * (pixel.pop() if has_alpha(second) else white)), white)
            lower = (Fraction(planes[-1][j][i], white) if has_alpha(planes) else 1) * (1 - upper)
            for c, v in enumerate(pixel * colors if len(pixel) < colors else pixel):
                if upper + lower:
                    made[c][j][i] = half_up((v * upper + planes[c][j][i] * lower) / (upper + lower))
            if has_alpha(planes):
                made[-1][j][i] = half_up(white * (upper + lower))
    return made


def rgb(planes):
    return [planes[0]] * 3 if len(planes) < 3 else planes[:3]


def flatten(planes, color="white"):
    if not has_alpha(planes):
        return planes
    mix = lambda v, a, ground, white: half_up(Fraction(v * a + ground * (white - a), white))
    return [[[mix(v, a, ground, p.white) for v, a in zip(*rows)] for rows in zip(p, planes[-1])]
            for p, ground in zip(planes[:-1], color_of(planes, color))]


def channel(planes, name):
    letters = ("" if len(planes) < 3 else "rgb") + ("a" if has_alpha(planes) else "")
    if (int(name) > len(planes)) if name.isdigit() else (name not in letters):
        raise Refused
    return [planes[int(name) - 1] if name.isdigit() else planes[letters.index(name) - len(letters)]]
