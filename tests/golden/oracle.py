#!/usr/bin/env python3
"""The independent oracle: docs/pixels.md in plain Python, written from its text, not from the C++ code.

    oracle.py            writes the golden files next to this one
    oracle.py --check    exit 1 unless this program would write exactly these golden files

A stage is a function, here or in a module next to this one, and a row of STAGES. The function takes the colour planes
of an image (a Plane each), for stages of WITH_ALPHA also its alpha as the last one, and the values of its parameters as
in --stages. It returns planes: lists of rows with the same bits, or Planes with others.
The row's cases are the steps with which the tests run the stage: on the images below, for its golden file, and against
its reference on many more. A missing row, or a parameter word that occurs in no case, fails the tests.

Golden files: images.json has the input images with their counts, STAGE.json the cases of a stage and their results,
chains.json the results of lists of steps. One image per line, one result per line: image, steps, width, height, bits,
planes. Of a tensor, "bits" is f32, f16 or bf16, and the planes have the bits of floats. Larger images are patterns;
their results are digests: width, height, channels, bits, steps, then width, height and bits of the result and a digest
per plane.

Standard library only. Rounding is half up unless a comment says otherwise. Arithmetic is exact unless docs/pixels.md
prescribes floats or doubles.
"""
import json
import os
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate
from math import isqrt

from canvas_oracle import channel, crop, flatten, over, pad, rgb, trim
from colormaps import COLORMAPS
from filter_oracle import FILTERS
from icc_oracle import icc
from plane import Plane, Refused, bits_of, half_up, has_alpha, single, white_of
from resize_oracle import resize
from tensor_oracle import normalize

HERE = os.path.dirname(os.path.abspath(__file__))

LUMA = {"bt601": (19595, 38470, 7471, 16), "bt709": (13933, 46871, 4732, 16), "opencv": (9798, 19235, 3735, 15)}
CLIPS = ("0:0", "0.5:0.5", "0.000001:0", "2:10", "33.333333:0.000001", "60:60", "99.999999:99.999999")
TAPS = {"box": (1, 1, 1, 1, 1), "triangle": (1, 2, 3, 2, 1), "gauss": (1, 4, 6, 4, 1)}


def gray(planes, luma="bt601"):
    if len(planes) == 1:
        return planes
    r, g, b, shift = LUMA[luma]
    return [[[half_up(Fraction(r * x + g * y + b * z, 1 << shift)) for x, y, z in zip(*rows)] for rows in zip(*planes)]]


def counts_of(plane):
    counts = [0] * (plane.white + 1)
    for row in plane:
        for v in row:
            counts[v] += 1
    return counts


def with_white(plane, white):
    return Plane([[half_up(Fraction(v * white, plane.white)) for v in row] for row in plane], white)


def depth(planes, bits):
    return [with_white(p, white_of(bits)) for p in planes]


def limits(counts, low, high):
    n = sum(counts)
    skip_low, skip_high = ((n * Fraction(p) / 100).__floor__() for p in (low, high))
    seen = 0
    for lo in range(len(counts)):
        seen += counts[lo]
        if seen > skip_low:
            break
    seen = 0
    for hi in range(len(counts) - 1, -1, -1):
        seen += counts[hi]
        if seen > skip_high:
            break
    return lo, hi


def stretch(plane, lo, hi, white):
    if hi <= lo:
        return with_white(plane, white)
    return Plane([[0 if v <= lo else white if v >= hi else half_up(Fraction((v - lo) * white, hi - lo)) for v in row]
                  for row in plane], white)


def contrast(planes, low="0", high=None, how="joint", to="same"):
    counts = [counts_of(p) for p in planes]
    if how == "joint":
        counts = [[sum(c) for c in zip(*counts)]] * len(planes)
    white = planes[0].white if to == "same" else white_of(to)
    return [stretch(p, *limits(c, low, high or low), white) for p, c in zip(planes, counts)]


def mirror(i, n):
    if n == 1:
        return 0
    while not 0 <= i < n:
        i = -i if i < 0 else 2 * (n - 1) - i
    return i


def place(i, n, border):
    if border == "replicate":
        return min(max(i, 0), n - 1)
    if border == "reflect":
        return mirror(i, n)
    return i if 0 <= i < n else None


def smooth_plane(plane, window, border):
    taps, h, w = TAPS[window], len(plane), len(plane[0])
    out = []
    for y in range(h):
        rows = [(place(y + d, h, border), taps[d + 2]) for d in range(-2, 3)]
        line = []
        for x in range(w):
            columns = [(place(x + d, w, border), taps[d + 2]) for d in range(-2, 3)]
            known = [(plane[j][i], a * b) for j, a in rows if j is not None for i, b in columns if i is not None]
            line.append(half_up(Fraction(sum(v * k for v, k in known), sum(k for _, k in known))))
        out.append(line)
    return out


def smooth(planes, window="box", border="shrink"):
    return [smooth_plane(p, window, border) for p in planes]


def otsu(counts):
    """The value at which OpenCV splits a histogram: the same doubles in the same order, each rounded separately."""
    one, least = 1.0 / sum(counts), 2.0 ** -23
    mean_of_all = float(sum(v * n for v, n in enumerate(counts))) * one
    share = mean = most = 0.0
    best = 0
    for v, n in enumerate(counts):
        mean *= share
        share += n * one
        rest = 1.0 - share
        if min(share, rest) < least or max(share, rest) > 1.0 - least:
            continue
        mean = (mean + v * (n * one)) / share
        distance = mean - (mean_of_all - share * mean) / rest
        variance = share * rest * distance * distance
        if variance > most:
            most, best = variance, v
    return best


def threshold(planes, at="otsu"):
    values = [otsu(counts_of(p)) if at == "otsu" else int(at) for p in planes]
    return [[[p.white if v > value else 0 for v in row] for row in p] for p, value in zip(planes, values)]


def invert(planes):
    return [[[p.white - v for v in row] for row in p] for p in planes]


def gamma(planes, value):
    def brighter(v, white):
        return half_up(Fraction(white * (Decimal(v) / white) ** (1 / Decimal(value)))) if v else 0

    return [[[brighter(v, p.white) for v in row] for row in p] for p in planes]


def levels(planes, lo, hi, of="same"):
    white = planes[0].white
    unit = 257 if of == "16" and white == 255 else 1  # in units of the samples
    low, high = (int(limit) * (257 if of == "8" and white == 65535 else 1) for limit in (lo, hi))
    if high <= low:
        return planes
    spread = lambda v: min(white, half_up(Fraction(max(0, v * unit - low) * white, high - low)))
    return [[[spread(v) for v in row] for row in p] for p in planes]


def equalize_plane(plane):
    counts = counts_of(plane)
    first = next(v for v, n in enumerate(counts) if n)
    others = sum(counts) - counts[first]
    if others == 0:
        return plane
    scale = single(plane.white / single(others))
    sums = accumulate(counts[first + 1:], initial=0)
    table = [0] * first + [round(single(single(n) * scale)) for n in sums]  # halves to even
    return [[table[v] for v in row] for row in plane]


def equalize(planes):
    return [equalize_plane(p) for p in planes]


def clahe_place(i, part):
    """The tile before a column or row, -1 before the first, and the share of the next one."""
    place = single(single(single(i) * part) - 0.5)
    return place.__floor__(), single(place - place.__floor__())


def clahe_table(plane, clip, tiles, wide, high, across, down):
    """A tile's results for the values in the image."""
    values, pixels, counts = plane.white + 1, wide * high, {}
    for y in range(down * high, (down + 1) * high):
        for x in range(across * wide, (across + 1) * wide):
            v = plane[mirror(y, len(plane))][mirror(x, len(plane[0]))]
            counts[v] = counts.get(v, 0) + 1
    limit = max(1, int(float(clip) * pixels / values)) if float(clip) > 0 else pixels
    each, left = divmod(sum(max(0, n - limit) for n in counts.values()), values)
    scale, seen, table = single(plane.white / single(pixels)), 0, {}
    for v in sorted(set().union(*plane)):
        seen += min(counts.get(v, 0), limit)
        added = each * (v + 1) + (min(left, v // (values // left) + 1) if left else 0)
        table[v] = min(plane.white, round(single(single(seen + added) * scale)))  # halves to even
    return table


def clahe_plane(plane, clip, tiles):
    h, w = len(plane), len(plane[0])
    more = 0 if w % tiles == 0 and h % tiles == 0 else 1
    wide, high = w // tiles + more, h // tiles + more
    tables = [[clahe_table(plane, clip, tiles, wide, high, i, j) for i in range(tiles)] for j in range(tiles)]
    inside = lambda i: min(max(i, 0), tiles - 1)
    mix = lambda a, b, share: single(single(a * single(1 - share)) + single(b * share))
    columns = [clahe_place(x, single(1 / wide)) for x in range(w)]
    out = []
    for y in range(h):
        row, down = clahe_place(y, single(1 / high))
        upper, lower = tables[inside(row)], tables[inside(row + 1)]
        line = []
        for (column, across), v in zip(columns, plane[y]):
            left, right = inside(column), inside(column + 1)
            above, below = (mix(t[left][v], t[right][v], across) for t in (upper, lower))
            line.append(min(plane.white, round(mix(above, below, down))))  # halves to even
        out.append(line)
    return out


def clahe(planes, clip="2", tiles="8"):
    return [clahe_plane(p, clip, int(tiles)) for p in planes]


def window_of(plane, x, y, radius, border):
    """The rows of samples around (x, y), extended beyond the border."""
    h, w, around = len(plane), len(plane[0]), range(-radius, radius + 1)
    return [[plane[place(y + j, h, border)][place(x + i, w, border)] for i in around] for j in around]


def windows(plane, radius, border):
    """A window for each sample."""
    return [[window_of(plane, x, y, radius, border) for x in range(len(plane[0]))] for y in range(len(plane))]


def median(planes, size="3"):
    def middle(window):
        return sorted(sum(window, []))[int(size) ** 2 // 2]

    return [[[middle(window) for window in row] for row in windows(p, int(size) // 2, "replicate")] for p in planes]


def gradient(window, norm):
    (a, b, c), (d, _, f), (g, h, i) = window
    dx, dy = c + 2 * f + i - a - 2 * d - g, g + 2 * h + i - a - 2 * b - c
    root = isqrt(dx * dx + dy * dy)  # rounded down
    rounded = root + (Fraction(2 * root + 1, 2) ** 2 <= dx * dx + dy * dy)
    return rounded if norm == "l2" else abs(dx) + abs(dy)


def sobel(planes, norm="l2"):
    return [[[min(gradient(window, norm), p.white) for window in row] for row in windows(p, 1, "reflect")]
            for p in planes]


def around(i, n, radius, border):
    """The positions of the 2 radius + 1 samples around one, without those that the border excludes."""
    places = [place(i + d, n, border) for d in range(-radius, radius + 1)]
    return [at for at in places if at is not None]


def box_plane(plane, radius, border):
    down = [around(y, len(plane), radius, border) for y in range(len(plane))]
    across = [around(x, len(plane[0]), radius, border) for x in range(len(plane[0]))]
    columns = [[sum(plane[j][x] for j in rows) for x in range(len(plane[0]))] for rows in down]
    return [[half_up(Fraction(sum(line[i] for i in places), len(rows) * len(places))) for places in across]
            for line, rows in zip(columns, down)]


def box(planes, radius="2", border="shrink"):
    return [box_plane(p, int(radius), border) for p in planes]


def gauss_weights(sigma):
    """The weights from -r to r, with decimals of 60 digits."""
    radius = (3 * Fraction(sigma)).__ceil__()
    with localcontext() as context:
        context.prec = 60
        bell = [(-Decimal(i * i) / (2 * Decimal(sigma) ** 2)).exp() for i in range(-radius, radius + 1)]
        weights = [half_up(Fraction(65536 * v / sum(bell))) for v in bell]
    weights[radius] += 65536 - sum(weights)
    return weights


def gauss_plane(plane, sigma, border):
    weights, bits = gauss_weights(sigma), bits_of(plane.white)
    radius, wide, high = len(weights) // 2, len(plane[0]), len(plane)
    down = [list(zip(around(y, high, radius, border), weights)) for y in range(high)]
    across = [list(zip(around(x, wide, radius, border), weights)) for x in range(wide)]
    columns = [[half_up(Fraction(sum(k * plane[j][x] for j, k in rows), 1 << bits)) for x in range(wide)]
               for rows in down]
    return [[half_up(Fraction(sum(k * line[i] for i, k in row), 1 << 32 - bits)) for row in across] for line in columns]


def gauss(planes, sigma="1", border="reflect"):
    return [gauss_plane(p, sigma, border) for p in planes]


def sharpen(planes, amount="1", sigma="1", threshold="0"):
    parts = half_up(4096 * Fraction(amount))

    def sharper(v, blurred, white):
        step = half_up(Fraction(abs(v - blurred) * parts, 4096))
        if abs(v - blurred) <= int(threshold):
            return v
        return min(max(v + step if v > blurred else v - step, 0), white)

    return [[[sharper(v, b, p.white) for v, b in zip(*rows)] for rows in zip(p, gauss_plane(p, sigma, "reflect"))]
            for p in planes]


def erode(planes, radius="1", extreme=min):
    def window(plane, x, y):
        down, across = (around(i, n, int(radius), "shrink") for i, n in ((y, len(plane)), (x, len(plane[0]))))
        return (plane[j][i] for j in down for i in across)

    return [[[extreme(window(p, x, y)) for x in range(len(p[0]))] for y in range(len(p))] for p in planes]


def dilate(planes, radius="1"):
    return erode(planes, radius, max)


def tophat(planes, radius="1", kind="white"):
    first, second = (min, max) if kind == "white" else (max, min)
    half = [Plane(p, q.white) for p, q in zip(erode(planes, radius, first), planes)]
    return [[[abs(v - u) for v, u in zip(*rows)] for rows in zip(p, q)]
            for p, q in zip(planes, erode(half, radius, second))]


def posterize(planes, bits):
    step = lambda white: (white + 1) >> int(bits)
    return [[[v // step(p.white) * step(p.white) for v in row] for row in p] for p in planes]


def enhanced(v, start, factor, white):
    mixed = single(start + single(single(float(factor)) * (v - start)))
    return min(white, max(0, mixed.__floor__()))


def brightness(planes, factor):
    return [[[enhanced(v, 0, factor, p.white) for v in row] for row in p] for p in planes]


def saturation(planes, factor):
    if len(planes) == 1:
        return planes
    return [[[enhanced(v, g, factor, p.white) for v, g in zip(*rows)] for rows in zip(p, gray(planes)[0])]
            for p in planes]


def whitebalance(planes, *factors):
    if len(planes) < 3:
        return planes
    if factors:
        factors = [Fraction(f.split("=")[-1]) for f in factors]
    else:
        sums = [sum(sum(row) for row in p) for p in planes[:3]]
        factors = [min(Fraction(100), Fraction(half_up(Fraction(sum(sums) * 10**6, 3 * s)), 10**6)) if s else 1
                   for s in sums]
    return [[[min(p.white, half_up(v * f)) for v in row] for row in p] for p, f in zip(planes, factors)]


def colormap(planes, name):
    if len(planes) > 2:
        raise Refused()
    rows = with_white(planes[0], 255)
    colors = COLORMAPS.get(name)
    if colors is None:  # an image: its pixels in a line
        flat = [sum(plane, []) for plane in second_image(name, planes)]
        colors = list(zip(*(flat if len(flat) == 3 else flat * 3)))
    return [Plane([[colors[v][c] for v in row] for row in rows], 255) for c in range(3)]


def flip(planes, direction="horizontal"):
    return [[row[::-1] for row in p] if direction == "horizontal" else p[::-1] for p in planes]


def turned(plane):
    """A quarter turn clockwise: the first column, read upwards, becomes the first row."""
    return [[row[x] for row in reversed(plane)] for x in range(len(plane[0]))]


def rotate(planes, angle):
    for _ in range(int(angle) // 90):
        planes = [turned(p) for p in planes]
    return planes


def second_image(name, planes):
    """The planes of the second image of that name, as tests/support/second_images.cpp makes them."""
    white, colors = planes[0].white, len(planes) - has_alpha(planes)
    if name == "same" and colors == 1:
        raise Refused()
    sizes = {"logo": (7, 5), "map": (256, 1), "tall": (1, 256)}
    wide, high = sizes.get(name, (len(planes[0][0]), len(planes[0])))
    channels = {"grey": 1, "same": colors, "logo": colors + 1, "map": 3, "tall": 1}[name]
    if name in ("map", "tall"):
        white = 255
    value = lambda x, y, c: 11 * x + 57 * y + 29 * x * y + 101 * c
    sample = lambda v: 0 if v % 5 == 0 else v * (1 if white == 255 else 40503) % (white + 1)
    return [Plane([[sample(value(x, y, c)) for x in range(wide)] for y in range(high)], white)
            for c in range(channels)]


def is_name(by):
    return by in ("grey", "same")


def arithmetic(operation):
    """A stage that applies operation(v, d, white) to each sample and a number, or a sample of a second image."""
    def stage(planes, by, scale=None):
        by_image = is_name(by)
        second = second_image(by, planes) if by_image else None
        made = []
        for c, plane in enumerate(planes):
            other = second[c % len(second)] if by_image else None
            factor = scale_of(operation, second, scale)
            clip = lambda value, white=plane.white: min(white, max(0, half_up(max(0, value))))
            made.append([[clip(operation(v, Fraction(other[y][x] if by_image else Decimal(by)), factor, plane.white))
                          for x, v in enumerate(row)] for y, row in enumerate(plane)])
        return made
    return stage


def scale_of(operation, second, scale):
    if operation is quotient and second and scale in (None, "mean"):
        samples = [v for plane in second for row in plane for v in row]
        return half_up(Fraction(sum(samples), len(samples)))
    return Fraction(Decimal(scale)) if scale and scale != "mean" else 1


def quotient(v, d, scale, white):
    return v * scale / d if d else 0 if v == 0 else white


add, subtract = arithmetic(lambda v, d, *_: v + d), arithmetic(lambda v, d, *_: v - d)
multiply, divide = arithmetic(lambda v, d, scale, _: v * d * scale), arithmetic(quotient)
least, greatest = arithmetic(lambda v, d, *_: min(v, d)), arithmetic(lambda v, d, *_: max(v, d))
absdiff = arithmetic(lambda v, d, *_: abs(v - d))
mask = arithmetic(lambda v, d, _, white: v * d / white)


def append(planes, image):
    if len(planes) == 4:
        raise Refused()
    return planes + second_image(image, planes)


# The stages by name: their functions and their cases. One row per stage.
STAGES = {
    "gray": (gray, list(LUMA)),
    "rgb": (rgb, [""]),
    "flatten": (flatten, ["", "black", "#336699"]),
    "channel": (channel, ["1", "2", "3", "4", "r", "g", "b", "a"]),
    "hist": (lambda planes: planes, [""]),
    "contrast": (contrast, [f"{clip}:{how}" for clip in CLIPS for how in ("joint", "each")] +
                 ["to=8", "to=16", "2:10:each:8", "0.5:0.5:joint:16"]),
    "smooth": (smooth, [f"{window}:{border}" for window in TAPS for border in ("shrink", "replicate", "reflect")]),
    "threshold": (threshold, ["0", "127", "255", "otsu", "40000"]),
    "invert": (invert, [""]),
    "add": (add, ["0.5", "77.499999", "grey", "same"]),
    "subtract": (subtract, ["3", "40.5", "grey", "same"]),
    "multiply": (multiply, ["0.5", "1.7", "300", "grey", "same", "grey:0.004", "same:scale=0.001963"]),
    "divide": (divide, ["2", "0.3", "1000.5", "grey", "same", "grey:100", "same:scale=65535", "grey:mean"]),
    "min": (least, ["100", "30.5", "grey", "same"]),
    "max": (greatest, ["100", "30.5", "grey", "same"]),
    "absdiff": (absdiff, ["100", "30.5", "grey", "same"]),
    "mask": (mask, ["grey", "same"]),
    "append": (append, ["grey"]),
    # The least opacity makes every alpha 0, and the next larger one that of 8 bits.
    "over": (lambda planes, image, *values, **named: over(planes, second_image(image, planes), *values, **named),
             ["logo", "logo:north:1:2", "grey:northeast:3:1:0.5", "logo:west:0:0:0.999999", "same:center:opacity=0.25",
              "logo:center:1:y=2", "logo:east:1", "logo:southwest:2:3:0.333333", "logo:south:opacity=0.7", "same",
              "grey:opacity=0.000001", "same:west:opacity=0.001", "logo:southeast:1:2:0.5"]),
    # The second and the third bring an 8-bit value as close to a half as possible: 228 and 141.
    "gamma": (gamma, ["2.2", "57.02216", "0.361439", "0.01", "100"]),
    "levels": (levels, ["50:200", "0:1", "254:255", "3:252:8", "1000:40001:16", "100:4000", "0:65535"]),
    "resize": (resize, ["3:2:linear:exact", "7:9:area", "5:4:nearest:inside", "9:3:linear:inside", "4:0", "0:3:area",
                        "1:1:area", "13:11", "8x6:area", "50%", "37.5%:area", "percent=130:method=nearest",
                        "9x7:area:contain", "7x12:fit=contain:background=#c0ffee80", "shortest=3:sizes=pillow",
                        "longest=9:method=area:sizes=pillow", "shortest=4:longest=5:sizes=pillow",
                        "shortest=3", "longest=9:method=area:sizes=transformers", "shortest=4:longest=5",
                        "longest=9:sizes=torchvision", "shortest=4:longest=5:method=area:sizes=torchvision",
                        "5x3:box", "11x4:bilinear", "3x8:hamming", "4x6:bicubic", "8x7:lanczos", "9x2:hamming:cover",
                        "2x3:bicubic:contain", "3x4:lanczos:cover:rule=pillow12", "6x3:bicubic:rule=pillow13"]),
    "depth": (depth, ["16", "8"]),
    "crop": (crop, ["2x2", "1x1", "3x2+1+0", "2x3:0:1", "5x4:y=0", "4:5:center:0", "4x3:rule=transformers:pad=none",
                    "4x3:rule=torchvision", "9x8:pad=#c0ffee80", "11x4:rule=torchvision:pad=red",
                    "5x3+1+2:pad=#01020304", "2:2:x=3:y=2"]),
    "trim": (trim, ["", "40", "100:white", "fuzz=9000:color=#408020", "fuzz=30000"]),
    # The sizes of the first and of the last suffice for most images of the tests.
    "pad": (pad, ["80x80:white", "9x7:black:center", "10x6:#ff8000:left", "8x9:#c0ffee80:right", "9x7:red:top",
                  "8x8:#01020304:bottom", "7x8:#204060:top-left", "8x6:#20406080:top-right", "9x9:black:bottom-left",
                  "8x7:#fedcba98:bottom-right", "131x130:#c0ffee40:right"]),
    "flip": (flip, ["", "vertical"]),
    "rotate": (rotate, ["90", "180", "270"]),
    "equalize": (equalize, [""]),
    # Few tiles: with 16 bits, computing a tile's table takes longer than processing a test image.
    "clahe": (clahe, ["40:3", "0:1", "1.5:2", "0.01:4"]),
    "median": (median, ["3", "5", "7", "9", "11", "13", "15"]),
    "sobel": (sobel, ["l2", "l1"]),
    "box": (box, ["", "1:replicate", "3:reflect", "20:replicate", "127", "127:reflect"]),
    # Middle weights above and below a half; radii of 1 to 120.
    "gauss": (gauss, ["", "0.3", "0.666667:replicate", "0.8", "2.5:replicate", "40"]),
    "sharpen": (sharpen, ["", "0.5:2", "10:0.3", "1.37:3:20", "0.000123:1.5", "2:1:300", "10:40"]),
    # Window sides next to powers of 2.
    "erode": (erode, ["", "2", "3", "4", "8", "127"]),
    "dilate": (dilate, ["", "2", "3", "4", "7", "127"]),
    "tophat": (tophat, ["", "1:black", "3", "4:black", "31:black"]),
    "posterize": (posterize, ["1", "3", "7", "8"]),
    "brightness": (brightness, ["0", "0.7", "1.3", "2.000001", "100"]),
    "saturation": (saturation, ["0", "0.3", "0.999999", "1.3", "7.654321", "100"]),
    "whitebalance": (whitebalance, ["", "1.2:1:0.9", "0:100:1", "0.333333:2.5:1.000001"]),
    "colormap": (colormap, ["viridis", "magma", "turbo", "map", "tall"]),
    "icc": (icc, ["srgb", "srgb:relative", "srgb:saturation"]),
    # float16 that overflows, and float16 below the least normal one.
    "normalize": (normalize, ["clip", "imagenet:dtype=float16:formula=totensor", "siglip:dtype=bfloat16:layout=nhwc",
                              "clip:layout=nhwc:formula=torchvision-v2", "imagenet:formula=transformers-fused",
                              "custom:mean=0.1/-0.2/0.3:std=0.3/0.25/2:dtype=float16:layout=nhwc",
                              "mean=0.25:std=0.000001:dtype=float16", "mean=0.3:std=30000:dtype=float16",
                              "mean=-0.123456789012345:std=-0.7:dtype=bfloat16:formula=transformers-fused",
                              "mean=0.5:std=0.25"]),
}
# Cases with values that 8-bit samples do not have.
ONLY_OF_16 = ["threshold:40000"]
# Cases whose results are too large for golden files: they have digests instead.
ONLY_OF_PATTERNS = ["pad:80x80:white", "pad:131x130:#c0ffee40:right"]
# Stages that get alpha as the last plane. No others run on images with alpha.
WITH_ALPHA = ["rgb", "flatten", "channel", "append", "over", "resize", "crop", "trim", "pad", "colormap", "icc"]
# Lists of several steps.
CHAINS = ["gray,hist,contrast,smooth", "smooth,gray", "smooth,smooth", "contrast:1,smooth:gauss,contrast:0:5:each",
          "rotate:90,smooth,crop:2x2,flip", "box:1,gauss:0.7,sharpen:2:0.9", "flip:vertical,gray,rotate:270",
          "gray,clahe", "depth:16,smooth,depth:8", "depth:8,contrast:to=16,gamma:0.5"]


def random_sizes(count):
    """Seeded sides from 1 to 70, four at a time."""
    state = 20261123
    for _ in range(count):
        sides = []
        for _ in range(4):
            state = (state * 1664525 + 1013904223) % (1 << 32)
            sides.append((state >> 16) % 70 + 1)
        yield sides


# Steps on patterns, for results that depend on size or on many pixels: (width, height, channels, bits, step) by stage.
PATTERNS = {
    "contrast": [(131, 97, 3, bits, f"contrast:0.5:2:{how}") for bits in (8, 16) for how in ("joint", "each")],
    "flatten": [(67, 41, channels, bits, f"flatten:{color}") for channels in (2, 4) for bits in (8, 16)
                for color in ("white", "#01807f")],
    "append": [(67, 41, channels, bits, "append:grey") for channels in (1, 2, 3) for bits in (8, 16)],
    "over": [(67, 41, channels, bits, step) for channels in (1, 2, 3, 4) for bits in (8, 16)
             for step in ("over:grey:opacity=0.4", "over:logo:center", "over:logo:southeast:-3:-2:0.7")],
    "pad": [(67, 41, channels, bits, step) for channels in (1, 2, 3, 4) for bits in (8, 16)
            for step in ONLY_OF_PATTERNS],
    "threshold": [(131, 97, 1, bits, "threshold") for bits in (8, 16)],
    "equalize": [(131, 97, 1, bits, "equalize") for bits in (8, 16)],
    "clahe": [(97, 89, 1, 8, "clahe"), (64, 48, 1, 8, "clahe:3:4"), (33, 29, 1, 16, "clahe")],
    "resize": [(w, h, 1, (8, 16)[i % 2], f"resize:{width}:{height}:{('linear', 'area', 'area', 'nearest')[i // 2 % 4]}")
               for i, (w, h, width, height) in enumerate(random_sizes(240))] +
              # Linear weights halfway between two numbers.
              [(7, 5, 1, 8, "resize:256:512"), (49, 3, 1, 8, "resize:256:1"), (3, 1, 1, 16, "resize:65536:1")] +
              # Means of 256 pixels and of more; long sides.
              [(w, h, 1, bits, f"resize:{width}:{height}:area") for bits in (8, 16) for w, h, width, height in
               [(48, 32, 3, 2), (51, 34, 3, 2), (49, 7, 7, 1), (1, 256, 1, 1), (1, 257, 1, 1), (480, 540, 30, 30),
                (901, 3, 4, 2), (3, 700, 2, 1), (2, 2, 901, 3), (128, 147, 160, 160), (66, 66, 33, 22)]] +
              [(w, h, 1 + i // 20 % 4, (8, 16)[i // 5 % 2], f"resize:{width}:{height}:{tuple(FILTERS)[i % 5]}:"
                f"{('exact', 'cover')[i // 10 % 2]}:rule=pillow1{2 + i // 4 % 2}")
               for i, (w, h, width, height) in enumerate(random_sizes(160))] +
              # Of Pillow 12, images more than 100 times as tall as wide.
              [(w, h, 1, 8, f"resize:{w + 1}:70:bicubic:rule={rule}") for w, h in ((2, 200), (2, 201), (3, 301))
               for rule in ("pillow12", "pillow13")],
}


def run(planes, stages):
    """The result of a list of --stages for planes."""
    for step in stages.split(","):
        name, *values = step.split(":")
        named = dict(value.split("=") for value in values if "=" in value)
        made = STAGES[name][0](planes, *[value for value in values if "=" not in value], **named)
        planes = [p if isinstance(p, Plane) else Plane(p, planes[0].white) for p in made]
    return planes


def noise(width, height, channels, seed, bits=8):
    """A linear congruential generator (Numerical Recipes' constants), high bits."""
    state, rows = seed, []
    for _ in range(height):
        row = []
        for _ in range(width):
            pixel = []
            for _ in range(channels):
                state = (state * 1664525 + 1013904223) % (1 << 32)
                pixel.append(state >> 32 - bits)
            row.append(pixel)
        rows.append(row)
    return rows


def narrow(pixels):
    """The same image with its values compressed into 60..140, and one outlier at each end."""
    rows = [[[60 + v * 80 // 255 for v in p] for p in row] for row in pixels]
    rows[0][0] = [3] * len(rows[0][0])
    rows[-1][-1] = [251] * len(rows[0][0])
    return rows


def squeezed(pixels, most):
    """The same 16-bit image with its values in 1000..1000 + most, like a 12-bit camera's."""
    return [[[1000 + v * most // 65535 for v in p] for p in row] for row in pixels]


def text(plane, white):
    return "".join(f"{v:0{bits_of(white) // 4}x}" for row in plane for v in row)


def pattern(width, height, channels, bits):
    """An image of that size, with the same values as in the tests."""
    factor = 1 if bits == 8 else 40503
    return [[[(37 * x + 91 * y + 13 * x * y + 59 * c) * factor % (1 << bits) for c in range(channels)]
             for x in range(width)] for y in range(height)]


def digest(plane):
    """FNV-1a of the samples, 32 bits."""
    value = 2166136261
    for row in plane:
        for v in row:
            value = (value ^ v) * 16777619 % (1 << 32)
    return value


def planes_of(pixels, white):
    return [Plane([[p[c] for p in row] for row in pixels], white) for c in range(len(pixels[0][0]))]


def cases_of(name):
    """The cases of a stage's row, as in --stages."""
    return [f"{name}:{values}" if values else name for values in STAGES[name][1]]


class GoldenImage:
    """An input image: rows of pixels, whose samples are from 0 to `white`."""

    def __init__(self, name, pixels, white=255):
        self.name, self.pixels, self.white = name, pixels, white
        self.planes = planes_of(pixels, white)

    def line(self):
        """The image with the values that occur in each colour channel and their counts."""
        color = self.planes[:-1] if has_alpha(self.planes) else self.planes
        counts = [[[v, n] for v, n in enumerate(counts_of(p)) if n] for p in color]
        return {"name": self.name, "width": len(self.pixels[0]), "height": len(self.pixels),
                "channels": len(self.planes), "bits": bits_of(self.white),
                "pixels": text([[v for p in row for v in p] for row in self.pixels], self.white), "hist": counts}


def golden_images():
    images = []
    for seed, (width, height, channels) in enumerate(
            [(1, 1, 1), (1, 1, 3), (2, 1, 1), (1, 5, 3), (2, 2, 1), (4, 3, 3), (5, 5, 1), (7, 6, 3), (13, 11, 1),
             (16, 9, 3)]):
        pixels = noise(width, height, channels, 20261120 + seed)
        images.append(GoldenImage(f"noise {width}x{height}x{channels}", pixels))
        if width * height > 4:
            images.append(GoldenImage(f"narrow {width}x{height}x{channels}", narrow(pixels)))
    images.append(GoldenImage("constant 6x4x1", [[[77]] * 6] * 4))
    images.append(GoldenImage("two values 6x4x1", [[[10 if (x + y) % 3 else 240] for x in range(6)] for y in range(4)]))
    images.append(GoldenImage("four values 4x4x1", [[[48], [48], [130], [207]], [[48], [125], [130], [207]],
                                                    [[48], [125], [130], [207]], [[48], [125], [207], [207]]]))
    images.append(GoldenImage("every value 32x8x1", [[[32 * y + x] for x in range(32)] for y in range(8)]))
    for seed, (width, height, channels) in enumerate([(1, 1, 1), (1, 1, 3), (5, 5, 1), (7, 6, 3), (13, 11, 1)]):
        pixels = noise(width, height, channels, 20261122 + seed, 16)
        images.append(GoldenImage(f"noise {width}x{height}x{channels}, 16 bits", pixels, 65535))
    images.append(GoldenImage("constant 6x4x1, 16 bits", [[[30000]] * 6] * 4, 65535))
    images.append(GoldenImage("squeezed 12x9x3, 16 bits", squeezed(noise(12, 9, 3, 16, 16), 1524), 65535))
    images.append(GoldenImage("two values 6x4x1, 16 bits",
                              [[[10 if (x + y) % 3 else 60000] for x in range(6)] for y in range(4)], 65535))
    # Halves of depth, 257 k + 128, and the values next to them.
    images.append(GoldenImage("edges 16x16x1, 16 bits", [[[min(257 * (16 * y + x) + 128 + x % 2, 65535)]
                                                          for x in range(16)] for y in range(16)], 65535))
    # Lumas that are halves before rounding: two each for bt601, bt709 and opencv.
    images.append(GoldenImage("halves 3x2x3", [[[184, 132, 0], [205, 153, 21], [253, 1, 180]],
                                               [[87, 239, 1], [112, 100, 108], [7, 211, 75]]]))
    images.append(GoldenImage("halves 3x2x3, 16 bits",
                              [[[18204, 17179, 42934], [54228, 41699, 48334], [34013, 56701, 63861]],
                               [[51207, 48075, 26894], [7960, 11055, 26741], [38080, 28634, 37662]]], 65535))
    for bits, white in ((8, 255), (16, 65535)):
        more = ", 16 bits" if bits == 16 else ""
        images.append(GoldenImage(f"checker 9x7x1{more}", [[[white * ((x + y) % 2)] for x in range(9)]
                                                           for y in range(7)], white))
        images.append(GoldenImage(f"white 5x4x3{more}", [[[white] * 3] * 5] * 4, white))
        images.append(GoldenImage(f"noise 17x1x3{more}", noise(17, 1, 3, 20261124, bits), white))
        images.append(GoldenImage(f"noise 1x19x1{more}", noise(1, 19, 1, 20261125, bits), white))
        for width, height, channels in ((1, 1, 2), (6, 5, 2), (1, 3, 4), (7, 6, 4)):
            images.append(GoldenImage(f"noise {width}x{height}x{channels}{more}",
                                      noise(width, height, channels, 20261126, bits), white))
    return images


def result_line(image, stages):
    """None if a step is impossible for the image."""
    if image.white == 255 and stages in ONLY_OF_16 or stages in ONLY_OF_PATTERNS:
        return None
    if has_alpha(image.planes) and not all(step.split(":")[0] in WITH_ALPHA for step in stages.split(",")):
        return None
    try:
        made = run(image.planes, stages)
    except Refused:
        return None
    return [image.name, stages, len(made[0][0]), len(made[0]), made[0].sample(), [text(p, p.white) for p in made]]


def digest_line(width, height, channels, bits, stages):
    made = run(planes_of(pattern(width, height, channels, bits), white_of(bits)), stages)
    return [width, height, channels, bits, stages, len(made[0][0]), len(made[0]), bits_of(made[0].white),
            [digest(p) for p in made]]


def file_text(**members):
    """A JSON object of arrays with an element per line."""
    lines = lambda values: ",\n".join(json.dumps(value, separators=(",", ":")) for value in values)
    return "{" + ",\n".join(f'"{name}":[\n{lines(values)}\n]' for name, values in members.items() if values) + "}\n"


def golden_files():
    """The text of each golden file."""
    images = golden_images()

    def results(steps):
        lines = (result_line(image, stages) for stages in steps for image in images)
        return [line for line in lines if line is not None]

    files = {"images.json": file_text(images=[image.line() for image in images]),
             "chains.json": file_text(results=results(CHAINS))}
    for stage in STAGES:
        digests = [digest_line(*row) for row in PATTERNS.get(stage, [])]
        files[f"{stage}.json"] = file_text(cases=cases_of(stage), digests=digests, results=results(cases_of(stage)))
    return files


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    made = golden_files()
    found = {name: read(os.path.join(HERE, name)) for name in os.listdir(HERE) if name.endswith(".json")}
    wrong = sorted(name for name in made.keys() | found.keys() if made.get(name) != found.get(name))
    if "--check" in sys.argv:
        for name in wrong:
            print(f"{name}: {'missing' if name not in found else 'outdated' if name in made else 'not a golden file'}")
        sys.exit(f"{len(wrong)} of {len(made)} golden files differ; run oracle.py" if wrong else 0)
    for name in wrong:
        path = os.path.join(HERE, name)
        if name not in made:
            os.remove(path)
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(made[name])


main()
