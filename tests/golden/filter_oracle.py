"""Part of oracle.py: resizing with Pillow's filters, their weights and passes."""
import math
from decimal import Decimal, localcontext
from functools import cache
from itertools import accumulate

from plane import Plane, has_alpha, single


def nearest_wave(x, first):
    """The double nearest to the cosine (first 0) or the sine (first 1) of a double, by the Taylor series."""
    with localcontext() as context:
        context.prec = 60
        x = Decimal(x)
        total = term = x if first else Decimal(1)
        while abs(term) > Decimal("1e-50"):
            term *= -x * x / ((first + 1) * (first + 2))
            total, first = total + term, first + 2
        return float(total)


def sinc(x):
    return nearest_wave(x * math.pi, 1) / (x * math.pi) if x else 1.0


def hamming(x):
    return sinc(x) * (single(0.54) + single(0.46) * nearest_wave(x * math.pi, 0)) if x else 1.0


def bicubic(x):
    a = -0.5
    return ((a + 2) * x - (a + 3)) * x * x + 1 if x < 1 else (((x - 5) * x + 8) * x - 4) * a


# Pillow's filters: half the width of the window, and the weight at a distance of less than that.
FILTERS = {
    "box": (0.5, lambda x: 1.0 if -0.5 < x <= 0.5 else 0.0),
    "bilinear": (1.0, lambda x: 1.0 - abs(x) if abs(x) < 1 else 0.0),
    "hamming": (1.0, lambda x: hamming(abs(x)) if abs(x) < 1 else 0.0),
    "bicubic": (2.0, lambda x: bicubic(abs(x)) if abs(x) < 2 else 0.0),
    "lanczos": (3.0, lambda x: sinc(x) * sinc(x / 3) if -3 <= x < 3 else 0.0),
}


@cache
def filter_weights(n, m, start, end, method):
    """For each of m outputs, the first of n inputs that contribute, and the weights."""
    half, value = FILTERS[method]
    scale, rows = single(end - start) / m, []
    stretch = max(scale, 1.0)
    for i in range(m):
        centre = start + (i + 0.5) * scale
        first, last = max(int(centre - half * stretch + 0.5), 0), min(int(centre + half * stretch + 0.5), n)
        values = [value((j - centre + 0.5) * (1 / stretch)) for j in range(first, last)]
        total = in_order(values)
        rows.append((first, [v / total for v in values]))
    return rows


def in_order(values):
    """The sum of doubles, each addition rounded."""
    return list(accumulate(values))[-1]


def filtered_line(line, rows, white):
    if white == 255:
        whole = lambda weight: int(weight * 2 ** 22 + (-0.5 if weight < 0 else 0.5))
        sums = (sum(whole(k) * v for k, v in zip(weights, line[first:])) for first, weights in rows)
        return [min(max((s + 2 ** 21) >> 22, 0), 255) for s in sums]
    sums = (in_order([k * v for k, v in zip(weights, line[first:])]) for first, weights in rows)
    return [min(max(math.floor(s + 0.5), 0), white) for s in sums]


def filter_plane(plane, width, height, method, box, rule):
    h, w = len(plane), len(plane[0])
    columns = lambda rows: [list(column) for column in zip(*rows)]
    left, top, right, bottom = box
    across, down = filter_weights(w, width, left, right, method), filter_weights(h, height, top, bottom, method)

    def pass_across(rows):
        changes = (left, right, width) != (0, w, w)
        return [filtered_line(row, across, plane.white) for row in rows] if changes else rows

    def pass_down(rows):
        changes = (top, bottom, height) != (0, h, h)
        return columns([filtered_line(c, down, plane.white) for c in columns(rows)]) if changes else rows

    down_first = height < h and (h - height > 2 * (w - width) if rule == "pillow13" else h > 100 * w)
    return pass_across(pass_down(plane)) if down_first else pass_down(pass_across(plane))


def filtered(planes, *how):
    """Colours of 8 bits are multiplied by alpha, the last plane, before the passes and divided by it after them."""
    make = lambda rows: Plane(filter_plane(rows, *how), rows.white)
    if not has_alpha(planes) or planes[0].white != 255:
        return [make(p) for p in planes]
    *colors, alpha = planes

    def times_alpha(v, a):
        t = v * a + 128
        return (t + (t >> 8)) >> 8

    def per_pixel(function, plane, alphas):
        return Plane([[function(v, a) for v, a in zip(*rows)] for rows in zip(plane, alphas)], 255)

    made = make(alpha)
    over_alpha = lambda v, a: min(255 * v // a, 255) if a else v
    return [per_pixel(over_alpha, make(per_pixel(times_alpha, c, alpha)), made) for c in colors] + [made]
