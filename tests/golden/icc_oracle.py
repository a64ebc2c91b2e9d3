"""Part of oracle.py: ICC profiles to sRGB, with the profiles and grids of tests/support/second_images.cpp."""
from fractions import Fraction
from functools import lru_cache
from itertools import permutations

from plane import half_up, has_alpha

GAMMA = 563 / 256
# The primaries in 65536ths: columns X, Y, Z.
SRGB = [[28576, 14581, 912], [25239, 46983, 6361], [9375, 3972, 46787]]
ADOBE = [[half_up(Fraction(v * 65536)) for v in column]
         for column in ((0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457))]


def encoded(light):
    """The sample of sRGB for linear light, both 0 to 1."""
    return 12.92 * light if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055


@lru_cache(None)
def node(i):
    return half_up(Fraction(65535 * encoded(i / 16384)))


@lru_cache(None)
def light(v):
    """Linear light in 2^-22ths of a 16-bit sample."""
    return half_up(Fraction((v / 65535) ** GAMMA * (1 << 22)))


def determinant(a, b, c):
    return sum(a[i] * (b[(i + 1) % 3] * c[(i + 2) % 3] - b[(i + 2) % 3] * c[(i + 1) % 3]) for i in range(3))


def coefficient(row, column):
    """Cramer's rule: the part of primary `row` of sRGB in a primary of Adobe RGB, in 2^-24ths."""
    replaced = [ADOBE[column] if i == row else primary for i, primary in enumerate(SRGB)]
    return (Fraction(determinant(*replaced), determinant(*SRGB)) * (1 << 24) + Fraction(1, 2)).__floor__()


MATRIX = [[coefficient(row, column) for column in range(3)] for row in range(3)]


def by_matrix(pixel):
    made = []
    for row in MATRIX:
        sum_ = (sum(m * light(v) for m, v in zip(row, pixel)) + (1 << 23)) >> 24
        sum_ = min(max(sum_, 0), 1 << 22)
        low, rest = sum_ >> 8, Fraction(sum_ & 255, 256)
        made.append(half_up(node(low) * (1 - rest) + (node(low + 1) * rest if rest else 0)))
    return made


def by_grid(points):
    def convert(pixel):
        cells = [min(v * (points - 1) // 65535, points - 2) for v in pixel]
        rest = [Fraction(v * (points - 1), 65535) - cell for v, cell in zip(pixel, cells)]
        # The simplex whose inputs are in this order contains the pixel.
        order = next(p for p in permutations(range(3)) if rest[p[0]] >= rest[p[1]] >= rest[p[2]])
        corners, weights, at = [list(cells)], [1 - rest[order[0]]], list(cells)
        for i, c in enumerate(order):
            at[c] += 1
            corners.append(list(at))
            weights.append(rest[c] - (rest[order[i + 1]] if i < 2 else 0))
        made = []
        for channel in range(3):
            number = lambda r, g, b: ((r * points + g) * points + b) * 3 + channel
            value = lambda i: (i * i * 7919 + i * 40503) % 65536
            made.append(half_up(sum(w * value(number(*corner)) for w, corner in zip(weights, corners))))
        return made
    return convert


def by_curve(pixel):
    return [half_up(Fraction(65535 * encoded((pixel[0] / 65535) ** GAMMA)))]


def icc(planes, to, intent="perceptual"):
    assert to == "srgb"
    white, colors = planes[0].white, len(planes) - has_alpha(planes)
    rule = by_curve if colors == 1 else {"perceptual": by_matrix, "relative": by_grid(4),
                                         "saturation": by_grid(2)}[intent]
    to_words = lambda v: v * 65535 // white
    from_words = lambda v: half_up(Fraction(v * white, 65535))
    made = [[[from_words(v) for v in rule([to_words(p[y][x]) for p in planes[:colors]])]
             for x in range(len(row))] for y, row in enumerate(planes[0])]
    return [[[pixel[c] for pixel in row] for row in made] for c in range(colors)] + planes[colors:]
