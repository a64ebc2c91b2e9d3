#!/usr/bin/env python3
"""An independent oracle for float stages: docs/pixels.md, "Floats", operation by operation in numpy's float32.
Shares no code with the C++.

    float_oracle.py PROGRAM    compares every case from PROGRAM (tests/golden/float_samples.cpp) bit for bit

Exit code 77 (skipped) if numpy is not installed.
"""
import subprocess
import sys
from math import floor, gcd

try:
    import numpy as np
except ImportError:
    print("SKIPPED: numpy is not installed")
    sys.exit(77)

F = np.float32
NAN = np.uint32(0x7FC00000)
DTYPES = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32, "f16": np.float16, "bf16": np.uint16,
          "u64": np.uint64}


def bits(values):
    return np.asarray(values, F).view(np.uint32)


def of_bits(values):
    return np.asarray(values, np.uint32).view(F)


def canonical(values):
    return np.where(np.isnan(values), of_bits(NAN), values)


def invert(v):
    return canonical(F(1) - v)


# ---- gamma ------------------------------------------------------------------------------------------

LOG = [F(float.fromhex(t)) for t in ("0x1.715476p+1", "0x1.ec70e6p-1", "0x1.27470ap-1", "0x1.ba1c38p-2")]
POWER = [F(float.fromhex(t)) for t in ("0x1.62e430p-1", "0x1.ebfbe0p-3", "0x1.c6aed0p-5", "0x1.3b29aap-7",
                                       "0x1.5f4774p-10", "0x1.448fa4p-13")]


def polynomial(x, terms):
    total = terms[-1]
    for term in reversed(terms[:-1]):
        total = term + x * total
    return total


def nearest_whole(x):
    return (x + F(12582912)) - F(12582912)


def power(v, gamma):
    """The power of positive, finite floats."""
    exponent = np.float64(1e6) / np.float64(gamma)
    e = F(exponent)
    high = of_bits(bits(e) & np.uint32(0xFFFFF000))
    low = F(exponent - np.float64(high))
    small = v < F(2.0**-126)
    scaled = bits(np.where(small, v * F(2.0**24), v))
    k = (scaled - np.uint32(0x3F3504F3)).view(np.int32) >> 23
    m = of_bits(scaled - (k.astype(np.uint32) << np.uint32(23)))
    k = (k - np.where(small, 24, 0)).astype(F)
    s = (m - F(1)) / (m + F(1))
    log = s * polynomial(s * s, LOG)
    product = k * high
    whole = nearest_whole(product)
    rest = (product - whole) + (k * low + log * e)
    whole_rest = nearest_whole(rest)
    r = rest - whole_rest
    p = F(1) + r * polynomial(r, POWER)
    n = np.clip((whole + whole_rest).astype(np.int64), -252, 254)
    half = n >> 1
    return p * of_bits(((half + 127) << 23).astype(np.uint32)) * of_bits(((n - half + 127) << 23).astype(np.uint32))


def gamma(v, text):
    millionths = round(float(text) * 1e6)
    magnitude = np.abs(v)
    stays = (magnitude == 0) | np.isinf(v) | np.isnan(v)
    made = power(np.where(stays, F(1), magnitude), millionths)
    return canonical(np.where(stays, v, np.copysign(made, v)))


# ---- levels, depth ----------------------------------------------------------------------------------

def levels(v, lo, hi, of="same"):
    white = {"same": F(1), "8": F(255), "16": F(65535)}[of]
    lo, hi = F(float(lo)) / white, F(float(hi)) / white
    return np.where(v <= lo, F(0), np.where(v >= hi, F(1), canonical((v - lo) / (hi - lo))))


def hist(v, lo="0", hi="1"):
    lo, hi, doubles = float(lo), float(hi), v.astype(np.float64)
    counts, _ = np.histogram(doubles, 256, (lo, hi))
    return np.array([[np.sum(doubles < lo), *counts, np.sum(doubles > hi), np.sum(np.isnan(v))]], np.uint64)


def depth(v, to):
    if to == "float":
        return v.astype(F) / F(np.iinfo(v.dtype).max)
    dtype = {"8": np.uint8, "16": np.uint16}[to]
    limited = np.where(v > 0, np.where(v < 1, v, F(1)), F(0))
    scaled = limited * F(np.iinfo(dtype).max)
    below = np.floor(scaled)
    return (below + np.where(scaled - below >= F(0.5), F(1), F(0))).astype(dtype)


# ---- smooth -----------------------------------------------------------------------------------------

ROWS = {"box": (1, 1), "triangle": (2, 3), "gauss": (4, 6)}


def source(i, size, border):
    """The coordinate that replaces i at the border, or None."""
    if 0 <= i < size:
        return i
    if border == "shrink":
        return None
    if border == "replicate" or size == 1:
        return min(max(i, 0), size - 1)
    i %= 2 * (size - 1)
    return i if i < size else 2 * (size - 1) - i


def taps(lines, window):
    """Combines five lines into one."""
    inner, middle = (F(w) for w in ROWS[window])
    a, b, c, d, e = lines
    return ((a + e) + inner * (b + d)) + middle * c


def along_first_axis(v, window, border):
    size = len(v)
    made = []
    for i in range(size):
        at = [source(i + k - 2, size, border) for k in range(5)]
        made.append(taps([np.zeros_like(v[0]) if j is None else v[j] for j in at], window))
    return np.array(made)


def weights(size, window, border):
    inner, middle = ROWS[window]
    row = [1, inner, middle, inner, 1]
    return [sum(row[k] for k in range(5) if source(i + k - 2, size, border) is not None) for i in range(size)]


def smooth(v, window, border):
    sums = along_first_axis(along_first_axis(v, window, border).T, window, border).T
    n = np.outer(weights(v.shape[0], window, border), weights(v.shape[1], window, border))
    return canonical(sums / n.astype(F))


# ---- resize -----------------------------------------------------------------------------------------

def linear_table(n, m):
    """For each output pixel: the input pixel, and the share of the following one."""
    table = []
    enlargement = np.float64(m) / np.float64(n)
    for x in range(m):
        place = np.float64(1) / enlargement * (np.float64(x) + 0.5) - 0.5
        below = floor(place)
        if below < 0 or n == 1:
            table.append((0, F(0)))
        elif below >= n - 1:
            table.append((n - 1, F(0)))
        else:
            share = F(place - below)
            table.append((below, share) if share < 1 else (below + 1, F(0)))
    return table


def blend(v, n, m):
    """Resizes linearly along the first axis."""
    made = []
    for at, share in linear_table(n, m):
        made.append(v[at] if share == 0 else (F(1) - share) * v[at] + share * v[at + 1])
    return np.array(made)


def area_means(v, n, m):
    """Resizes by area along the first axis."""
    common = gcd(n, m)
    unit_in, unit_out = m // common, n // common
    made = []
    for x in range(m):
        start, end = x * unit_out, (x + 1) * unit_out
        total = None
        for i in range(start // unit_in, -(-end // unit_in)):
            covered = min(end, (i + 1) * unit_in) - max(start, i * unit_in)
            weighed = F(covered) / F(unit_in) * v[i]
            total = weighed if total is None else total + weighed
        made.append(total / (F(unit_out) / F(unit_in)))
    return np.array(made)


def nearest_table(n, m):
    step = np.float64(n) / np.float64(m)
    centre, table = step / 2, []
    for _ in range(m):
        table.append(min(int(centre), n - 1))
        centre += step
    return table


def resize(v, width, height, method):
    (h, w), width, height = v.shape, int(width), int(height)
    if method == "nearest":
        return v[nearest_table(h, height)][:, nearest_table(w, width)]
    if method == "linear":
        return canonical(blend(blend(v.T, w, width).T, h, height))
    return canonical(area_means(area_means(v, h, height).T, w, width).T)


# ---- moves ------------------------------------------------------------------------------------------

def canvas(v, left, top, width, height, color):
    r, g, b = (int(color[i:i + 2], 16) for i in (1, 3, 5)) if color != "white" else (255, 255, 255)
    grey = F((r * 19595 + g * 38470 + b * 7471 + 32768) >> 16) / F(255)
    rows, columns = (np.arange(start, start + size) for start, size in ((top, height), (left, width)))
    made = np.full((height, width), grey, v.dtype)
    inside = np.ix_(*((at >= 0) & (at < size) for at, size in ((rows, v.shape[0]), (columns, v.shape[1]))))
    made[inside] = v[max(0, top):top + height, max(0, left):left + width]
    return made


def crop(v, rectangle, color=None):
    size, *offset = rectangle.split("+")
    width, height = map(int, size.split("x"))
    x, y = map(int, offset) if offset else ((v.shape[1] - width) // 2, (v.shape[0] - height) // 2)
    return canvas(v, x, y, width, height, color[4:]) if color else v[y:y + height, x:x + width]


def pad(v, size, color, position="center"):
    width, height = map(int, size.split("x"))
    left, top = ((0 if position == "left" else -round((width - v.shape[1]) / 2)), -round((height - v.shape[0]) / 2))
    return canvas(v, left, top, width, height, color)


def flip(v, direction):
    return v[:, ::-1] if direction == "horizontal" else v[::-1]


def rotate(v, angle):
    return np.rot90(v, -int(angle) // 90)


# ---- normalize --------------------------------------------------------------------------------------

FORMULAS = {
    "transformers": lambda v, white, m, s: ((v * (1 / white)).astype(F) - m) / s,
    "totensor": lambda v, white, m, s: (v.astype(F) / F(white) - m) / s,
    "torchvision-v2": lambda v, white, m, s: (v.astype(F) * F(1 / white) - m) / s,
    "transformers-fused": lambda v, white, m, s: (v.astype(F) - m * F(white)) / (s * F(white)),
}


def bfloat16(v):
    """The upper halves of the bits, of the nearer float that has only such a half."""
    low, high = bits(v) & np.uint32(0xFFFF), bits(v) >> np.uint32(16)
    return (high + ((low > 0x8000) | ((low == 0x8000) & (high % 2 == 1)))).astype(np.uint16)


def normalize(v, *values):
    named = dict(value.split("=") for value in values)
    made = FORMULAS[named["formula"]](v, np.iinfo(v.dtype).max, F(float(named["mean"])), F(float(named["std"])))
    return {"float32": lambda: made, "float16": lambda: made.astype(np.float16),
            "bfloat16": lambda: bfloat16(made)}[named["dtype"]]()


# ---- arithmetic -------------------------------------------------------------------------------------

def second_image(shape):
    """The image that tests/support/second_images.cpp makes for a grey image of floats."""
    y, x = np.indices(shape)
    return ((11 * x + 57 * y + 29 * x * y) % 257 - 64).astype(F) / F(128)


def arithmetic(function):
    def stage(v, by, scale="1"):
        d = second_image(v.shape) if by == "grey" else F(float(by))
        return canonical(function(v, d, F(float(scale.removeprefix("scale=")))))
    return stage


ARITHMETIC = {name: arithmetic(function) for name, function in {
    "add": lambda v, d, _: v + d, "subtract": lambda v, d, _: v - d, "absdiff": lambda v, d, _: np.abs(v - d),
    "multiply": lambda v, d, scale: v * d * scale, "divide": lambda v, d, scale: v * scale / d,
    "min": lambda v, d, _: np.where((d < v) | np.isnan(d), d, v), "mask": lambda v, d, _: v * d,
    "max": lambda v, d, _: np.where((d > v) | np.isnan(d), d, v)}.items()}

STAGES = ARITHMETIC | {f.__name__: f
          for f in (invert, gamma, levels, hist, depth, smooth, resize, crop, pad, flip, rotate, normalize)}


def cases(data):
    at = 0
    while at < len(data):
        end = data.index(b"\n", at)
        step, *shapes = data[at:end].decode().split()
        at = end + 1
        planes = []
        for width, height, sample in (shapes[:3], shapes[3:]):
            dtype = np.dtype(DTYPES[sample])
            count = int(width) * int(height)
            planes.append(np.frombuffer(data, dtype, count, at).reshape(int(height), int(width)))
            at += count * dtype.itemsize
        yield step, *planes


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    data = subprocess.run([sys.argv[1]], check=True, stdout=subprocess.PIPE).stdout
    count = wrong = 0
    with np.errstate(all="ignore"):
        for step, given, got in cases(data):
            name, *values = step.split(":")
            expected = np.ascontiguousarray(STAGES[name](given, *values))
            count += 1
            if expected.dtype != got.dtype or expected.shape != got.shape:
                sys.exit(f"{step} of {given.shape}: {expected.dtype} {expected.shape}, not {got.dtype} {got.shape}")
            raw = np.dtype(f"u{got.dtype.itemsize}")
            differ = np.argwhere(expected.view(raw) != got.view(raw))
            if len(differ) == 0:
                continue
            wrong += 1
            y, x = differ[0]
            print(f"{step} of {given.shape[1]}x{given.shape[0]}: {len(differ)} samples differ, first x={x} y={y}: "
                  f"expected {expected[y, x]} ({expected.view(raw)[y, x]:x}), "
                  f"got {got[y, x]} ({got.view(raw)[y, x]:x})", file=sys.stderr)
    if wrong or count < 1000:
        sys.exit(f"float_oracle: {wrong} of {count} cases differ")
    print(f"float_oracle: {count} cases are equal")


if __name__ == "__main__":
    main()
