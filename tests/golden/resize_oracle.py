"""Part of oracle.py: the stage resize, its sizes and methods."""
from fractions import Fraction

from canvas_oracle import pad
from filter_oracle import FILTERS, filtered
from plane import Plane, half_up, single


def shares(n, m, method, parts):
    """For each of m outputs, the contributing ones of n inputs and their weights; linear: in units of 1 / `parts`."""
    step, rows = n / m, []
    centre = step * 0.5
    for x in range(m):
        if method == "nearest":
            rows.append([(min(int(centre), n - 1), 1)])
            centre += step
        elif method == "linear":
            place = (1.0 / (m / n)) * (x + 0.5) - 0.5
            left = place.__floor__()
            share = round((place - left) * parts)  # halves to even
            rows.append([(min(max(left, 0), n - 1), parts - share), (min(max(left + 1, 0), n - 1), share)])
        else:
            edges = [(max(Fraction(x * n, m), i), min(Fraction((x + 1) * n, m), i + 1)) for i in range(n)]
            rows.append([(i, end - start) for i, (start, end) in enumerate(edges) if end > start])
    return rows


def resize_plane(plane, width, height, method):
    h, w = len(plane), len(plane[0])
    parts = plane.white + 1
    down, across = shares(h, height, method, parts), shares(w, width, method, parts)
    lines = [[sum(row[i] * b for i, b in columns) for columns in across] for row in plane]
    sums = [[sum(lines[j][x] * a for j, a in rows) for x in range(width)] for rows in down]
    if method == "nearest":
        return sums
    if method == "linear":
        return [[half_up(Fraction(v, parts ** 2)) for v in row] for row in sums]
    pixels = Fraction(w * h, width * height)
    most = 1 << (23 if plane.white == 255 else 8)
    if w % width == 0 and h % height == 0 and (w, h) != (2 * width, 2 * height) and pixels <= most:
        return [[round(single(int(v) * single(1 / int(pixels)))) for v in row] for row in sums]  # halves to even
    return [[half_up(v / pixels) for v in row] for row in sums]


def edges_of(short, long, n, m, sizes):
    """The new shorter and longer side for shortest=n and longest=m, 0 if not given."""
    if sizes == "pillow":
        around, within = (n, round(long / short * n)), (round(short / long * m), m)
        return around if n and (not m or around[1] <= m) else within
    if not n:
        scale = m / long
        return (short * m // long, m) if sizes == "torchvision" else (int(short * scale + 0.5), int(long * scale + 0.5))
    longest = n * long // short
    if sizes == "torchvision":
        return (m * n // longest, m) if m and longest > m else (n, longest)
    if m and long / short * n > m:
        limited = m * short / long
        n, longest = round(limited), int(limited * long / short)
    return (short, long) if n == short else (n, longest)


def contained(w, h, width, height):
    if w / h > width / height:
        return width, round(h / w * width)
    return (round(w / h * height), height) if w / h < width / height else (width, height)


def covering_box(w, h, width, height):
    """The edges of the part of an image that fit=cover shows: left, top, right, bottom."""
    part_w = width / height * h if w / h > width / height else w
    part_h = w / (width / height) if w / h < width / height else h
    left, top = (w - part_w) * 0.5, (h - part_h) * 0.5
    return tuple(map(single, (left, top, left + part_w, top + part_h)))


def new_size(w, h, given):
    width, height, shortest, longest = (int(given.get(k, 0)) for k in ("width", "height", "shortest", "longest"))
    if "percent" in given:
        return tuple(half_up(side * Fraction(given["percent"]) / 100) for side in (w, h))
    if shortest or longest:
        edges = edges_of(min(w, h), max(w, h), shortest, longest, given.get("sizes", "transformers"))
        return edges if w <= h else edges[::-1]
    fit = given.get("fit", "exact")
    if fit == "contain":
        return contained(w, h, width, height)
    if fit == "inside" and width and height:
        width, height = (width, 0) if Fraction(width, w) <= Fraction(height, h) else (0, height)
    proportional = lambda side, by, of: half_up(Fraction(side * by, of))
    return width or proportional(w, height, h), height or proportional(h, width, w)


def resize(planes, *values, **named):
    if values and values[0].endswith("%"):
        values, named = ("0", "0", *values[1:]), {**named, "percent": values[0][:-1]}
    elif values and "x" in values[0]:
        values = (*values[0].split("x"), *values[1:])
    given = {**dict(zip(("width", "height", "method", "fit"), values)), **named}
    h, w = len(planes[0]), len(planes[0][0])
    width, height = (max(1, side) for side in new_size(w, h, given))
    if (width, height) != (w, h):
        method = given.get("method", "linear")
        if method in FILTERS:
            box = covering_box(w, h, width, height) if given.get("fit") == "cover" else (0, 0, w, h)
            planes = filtered(planes, width, height, method, box, given.get("rule", "pillow13"))
        else:
            planes = [Plane(resize_plane(p, width, height, method), p.white) for p in planes]
    if given.get("fit") == "contain":
        return pad(planes, f"{given['width']}x{given['height']}", given.get("background", "transparent"))
    return planes
