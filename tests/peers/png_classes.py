#!/usr/bin/env python3
"""Makes images of the classes by which PNG sizes are compared (png_compare.py).

    png_classes.py IMGPIPE FOLDER [CORPUS]

FOLDER gets one directory per class, of PGM and PPM files: the photographs of CORPUS (its directory photos) in colour,
grey and smoothed, a complete one and enlarged ones; rendered text, user interfaces, drawings, charts, scans, palettes,
patterns, noise. The same files every time. Needs Pillow and the DejaVu fonts.
"""
import pathlib
import random
import subprocess
import sys

from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONTS = "/usr/share/fonts/truetype/dejavu/"
WORDS = ("the quick brown fox jumps over lazy dogs while seven wizards judge my vow of quartz and sphinx "
         "measure Report 2024 total: 3,141.59 (EUR) Chapter section figure table index value").split()
SIZE = (1600, 1200)


def font(size, face="DejaVuSans"):
    return ImageFont.truetype(f"{FONTS}{face}.ttf", size)


def text_lines(draw, box, face, colour, chance):
    left, top, right, bottom = box
    step = face.size * 5 // 4
    for y in range(top, bottom - step, step):
        line = ""
        while draw.textlength(line + "mmmmmm", face) < right - left:
            line += chance.choice(WORDS) + " "
        draw.text((left, y), line, colour, face)


def screenshot(seed):
    chance = random.Random(seed)
    dark = seed % 2
    image = Image.new("RGB", SIZE, (30, 32, 36) if dark else (246, 246, 248))
    draw = ImageDraw.Draw(image)
    width, height = SIZE
    if seed % 3 == 1:  # a gradient as wallpaper
        for y in range(height):
            draw.line([(0, y), (width, y)], (40 + y * 80 // height, 60 + y * 60 // height, 140 + y * 90 // height))
    draw.rectangle([0, 0, width, 34], (60, 63, 70) if dark else (225, 228, 232))
    ink = (215, 218, 224) if dark else (24, 24, 28)
    for _ in range(3 + seed % 4):
        left, top = chance.randrange(0, width - 520), chance.randrange(50, height - 330)
        right, bottom = left + chance.randrange(400, 900), top + chance.randrange(250, 600)
        paper = (40, 44, 52) if dark else (255, 255, 255)
        draw.rounded_rectangle([left, top, right, bottom], 9, paper, (120, 120, 130))
        draw.rectangle([left + 1, top + 9, right - 1, top + 30], (82, 110, 180))
        face = font(chance.choice([12, 14, 16]), chance.choice(["DejaVuSans", "DejaVuSansMono", "DejaVuSerif"]))
        text_lines(draw, (left + 12, top + 38, right - 8, bottom), face, ink, chance)
    for i in range(24):
        x = 12 + i * 56
        draw.ellipse([x, height - 48, x + 36, height - 12], tuple(chance.randrange(40, 230) for _ in range(3)))
    return image


def line_art(seed):
    chance = random.Random(seed)
    smooth = seed % 2  # drawn larger and reduced: soft edges
    scale = 2 if smooth else 1
    size = (SIZE[0] * scale, SIZE[1] * scale)
    image = Image.new("L", size, 255)
    draw = ImageDraw.Draw(image)
    for _ in range(60 + 40 * (seed % 4)):
        corners = chance.choice([2, 2, 3, 4])
        points = [(chance.randrange(size[0]), chance.randrange(size[1])) for _ in range(corners)]
        draw.line(points, 0, chance.randrange(1, 5) * scale)
        x, y, r = chance.randrange(size[0]), chance.randrange(size[1]), chance.randrange(5, 260) * scale
        draw.arc([x - r, y - r, x + r, y + r], chance.randrange(360), chance.randrange(360), 0, 2 * scale)
    for x in range(0, size[0], 90 * scale):
        for y in range(0, size[1], 400 * scale):
            draw.text((x, y), chance.choice(WORDS), 0, font(11 * scale))
    if seed % 5 == 4:  # hatched
        for x in range(0, size[0], 7 * scale):
            draw.line([(x, size[1] // 3), (x + 300 * scale, size[1] * 2 // 3)], 0, scale)
    return image.resize(SIZE, Image.LANCZOS) if smooth else image


def page(seed, size):
    chance = random.Random(seed)
    image = Image.new("L", size, 250)
    draw = ImageDraw.Draw(image)
    face = font(26 + 4 * (seed % 3), chance.choice(["DejaVuSerif", "DejaVuSans"]))
    text_lines(draw, (140, 160, size[0] - 140, size[1] - 150), face, 20, chance)
    return image


def noise_of(size, sigma, seed):
    """Gaussian noise around 128, as sums of uniform noise; the same every time."""
    bytes_of = random.Random(seed).randbytes(size[0] * size[1])
    return Image.frombytes("L", size, bytes_of).filter(ImageFilter.BoxBlur(1)).point(
        lambda v: min(255, max(0, round(128 + (v - 127.5) * sigma / 24.6))))


def add(image, noise):
    from PIL import ImageChops
    return ImageChops.add(image, noise, 1, -128)


def scan(seed):
    size = (1240, 1754)
    image = page(seed, size)
    if seed % 5 == 0:
        return image.point(lambda v: 255 if v > 128 else 0)  # a fax
    image = image.rotate(0.2 * seed, Image.BICUBIC, fillcolor=250).filter(ImageFilter.GaussianBlur(0.6))
    if seed % 5 == 1:
        return image  # a clean scan
    image = add(image, noise_of(size, seed, seed))
    if seed % 5 == 2:
        return image.point(lambda v: 255 if v > 235 else v)  # white paper
    if seed % 5 == 3:
        return Image.merge("RGB", [image, image.point(lambda v: v * 250 // 255), image.point(lambda v: v * 235 // 255)])
    return image


def flat(seed):
    chance = random.Random(seed)
    image = Image.new("RGB" if seed % 2 else "L", SIZE, (240, 240, 235) if seed % 2 else 200)
    draw = ImageDraw.Draw(image)
    for _ in range(seed * 8):
        x, y = chance.randrange(SIZE[0]), chance.randrange(SIZE[1])
        colour = tuple(chance.randrange(256) for _ in range(3)) if seed % 2 else chance.randrange(256)
        draw.rectangle([x, y, x + chance.randrange(10, 600), y + chance.randrange(10, 400)], colour)
    return image


def pattern(seed):
    chance = random.Random(seed)
    tile = Image.frombytes("RGB", (seed * 9 + 7, seed * 5 + 3), chance.randbytes((seed * 9 + 7) * (seed * 5 + 3) * 3))
    if seed % 2:
        tile = tile.filter(ImageFilter.GaussianBlur(1.5))
    image = Image.new("RGB", SIZE)
    for y in range(0, SIZE[1], tile.size[1]):
        for x in range(0, SIZE[0], tile.size[0]):
            image.paste(tile, (x, y))
    return image.convert("L") if seed % 3 == 0 else image


def photographs(corpus):
    for path in sorted((corpus / "photos").glob("*")):
        image = Image.open(path)
        mode = image.mode if image.mode in ("L", "RGB") else "RGB"
        yield path.stem + path.suffix.replace(".", "_"), image.convert(mode)


def save(image, folder, name):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (name + (".pgm" if image.mode == "L" else ".ppm"))
    image.save(path)
    return path


def main():
    program, out = sys.argv[1], pathlib.Path(sys.argv[2])
    made = {"screenshot": screenshot, "line_art": line_art, "scan": scan, "flat": flat, "pattern": pattern}
    for name, make in made.items():
        for seed in range(7):
            save(make(seed), out / name, f"{name}{seed}")
    for index, kind in enumerate(["noise", "colors:3", "colors:17", "colors:200", "threshold:200", "threshold:60"]):
        for channels in (1, 3):
            ending = "pgm" if channels == 1 else "ppm"
            path = out / "noise" / f"{kind.replace(':', '')}_{channels}.{ending}"
            path.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([program, "synth", path, "--pattern", kind, "--size", "1500x1000", "--channels",
                            str(channels), "--seed", str(index), "-q"],
                           check=True)
    corpus = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    for index, (name, image) in enumerate(photographs(corpus) if corpus else []):
        for colours, dither in ((16, Image.FLOYDSTEINBERG), (64, Image.NONE), (256, Image.FLOYDSTEINBERG)):
            if index % 2 == 0:
                palette = image.convert("RGB").quantize(colours, dither=dither).convert("RGB")
                save(palette, out / "palette", f"{name}_{colours}")
        if image.mode == "RGB":
            save(image, out / "photo_rgb", name)
        save(image.convert("L"), out / "photo_grey", name)
        # Like a camera's: twice the size, with sharp noise.
        large = image.resize((image.width * 2, image.height * 2), Image.BICUBIC)
        noise = noise_of(large.size, 2.5, index)
        save(add(large.convert("L"), noise), out / "photo_grey", name + "_large")
        if image.mode == "RGB":
            bands = [add(band, noise_of(large.size, 2.5, 100 * index + i)) for i, band in enumerate(large.split())]
            save(Image.merge("RGB", bands), out / "photo_rgb", name + "_large")
        for kind, base in (("smooth", name), ("smooth", name + "_large")):
            (out / kind).mkdir(parents=True, exist_ok=True)
            source = out / "photo_grey" / f"{base}.pgm"
            for stages, mark in (("smooth", ""), ("contrast,smooth", "_contrast")):
                subprocess.run([program, source, out / kind / f"{base}{mark}.pgm", "--stages", stages, "-q"],
                               check=True)


if __name__ == "__main__":
    main()
