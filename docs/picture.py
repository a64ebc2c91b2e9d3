#!/usr/bin/env python3
"""Makes docs/operators.jpg: a sheet of operators, each with the images before and after, by --montage. From a
photograph, makes docs/photograph.jpg, it and the result of README's first command, and docs/report.jpg, the HTML report
of another run. From LAB, the page of imgpipe bench --stage gray --html LAB on a machine with a GPU, makes docs/lab.jpg.
Drawing the pages needs Chromium.

    picture.py IMGPIPE [PHOTOGRAPH [LAB]]

The scenes of the sheet are drawn here, with a seed. README's photograph is retina.jpg of scikit-image's data, by Mikael
Häggström, in the public domain (CC0), doi:10.15347/wjm/2014.008. Needs Pillow.
"""
import contextlib
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont, ImageOps

SIDE, GAP = 400, 12
PHOTOGRAPH = ["--stages", "channel:g,clahe:4:8"]
PAGE = ["--stages", "gray,hist,contrast:clip=0.5,smooth"]
FOG = (196, 200, 204)


def ridge(chance, width, rough):
    """Heights in -1..1 along `width` columns, by midpoint displacement."""
    heights, step = [chance.uniform(-1, 1) for _ in range(4)], 1.0
    while len(heights) < width:
        step *= rough
        middles = [(a + b) / 2 + chance.uniform(-step, step) for a, b in zip(heights, heights[1:])]
        heights = [h for pair in zip(heights, middles) for h in pair] + heights[-1:]
    return heights[:width]


def mixed(color, other, share):
    return tuple(round(a * (1 - share) + b * share) for a, b in zip(color, other))


def sky(draw, width, height):
    for y in range(height):
        draw.line([(0, y), (width, y)], fill=mixed((168, 180, 196), (222, 208, 192), min(1, y / height * 1.6)))
    x, y, radius = width * 0.7, height * 0.24, height * 0.07
    draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=(228, 220, 206))


def trees(draw, chance, ground, width, scale):
    """Firs along a ridge."""
    for x in sorted(chance.randrange(width) for _ in range(46)):
        tall = chance.uniform(9, 26) * scale
        for part in range(4):
            top, half = ground[x] - tall * (1 - part * 0.2), tall * (0.10 + 0.06 * part)
            draw.polygon([(x, top), (x - half, top + tall * 0.36), (x + half, top + tall * 0.36)], fill=(84, 96, 98))


def scene(width, height, seed=7):
    """Mountain ranges in fog: all values are between 80 and 240."""
    scale, chance = 3, random.Random(seed)
    wide, tall = width * scale, height * scale
    image = Image.new("RGB", (wide, tall))
    draw = ImageDraw.Draw(image)
    sky(draw, wide, tall)
    layers = 5
    for layer in range(layers):
        near = layer / (layers - 1)
        base, swing = tall * (0.46 + 0.40 * near), tall * (0.20 - 0.13 * near)
        ground = [base - h * swing for h in ridge(chance, wide, 0.52)]
        color = mixed((88, 104, 112), FOG, 0.82 * (1 - near) ** 1.1)
        for x, y in enumerate(ground):
            draw.line([(x, y), (x, tall)], fill=color)
        if layer == layers - 1:
            trees(draw, chance, ground, wide, scale)
    return grainy(image.resize((width, height), Image.LANCZOS), chance)


def grainy(image, chance, grain=3):
    """The scene with a sensor's noise, which smooth reduces."""
    noise = Image.new("L", image.size)
    count = image.width * image.height
    noise.putdata([round(min(255, max(0, 128 + chance.gauss(0, grain)))) for _ in range(count)])
    return ImageChops.add(image, Image.merge("RGB", [noise] * 3), 1, -128)


def font(size, bold=False):
    try:
        return ImageFont.truetype("DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf", size)
    except OSError:
        return ImageFont.load_default()


# ---- the sheet of operators --------------------------------------------------------------------------

TILE, LABEL = (160, 120), 20
CELL = (2 * TILE[0] + 20, TILE[1] + LABEL + 8)
HERE = os.path.dirname(os.path.abspath(__file__))
PROFILE = os.path.join(HERE, "..", "tests", "fuzz", "seeds", "icc", "rgb_matrix.icc")
# (image before, options)
OPERATORS = [
    ("cast.png", "whitebalance"), ("vivid.png", "brightness:1.3"), ("vivid.png", "saturation:0.4"),
    ("cells.png", "tophat:7"), ("cells.png", "median:9"), ("cells.png", "colormap:viridis"),
    ("cells.png", "divide:flat.png"), ("vivid.png", "over:logo.png:southeast:8:8:opacity=0.8"),
    ("vivid.png", "mask:oval.png"), ("margin.png", "trim:fuzz=8"), ("profile.png", "icc:srgb"),
    ("vivid.png", "channel:r"), ("noisy_*.png", "--stack median"), ("star_*.png", "--stack max"),
    ("turn_*.png", "--montage 2x --cell 80x60")]


def cells(chance, light):
    """Bright discs of several sizes on a ground that `light` makes uneven."""
    scale = 3
    image = Image.new("L", tuple(side * scale for side in TILE), 90)
    draw = ImageDraw.Draw(image)
    for _ in range(60):
        x, y, radius = chance.uniform(0, image.width), chance.uniform(0, image.height), chance.uniform(4, 15)
        draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=round(chance.uniform(160, 255)))
    return ImageChops.multiply(image.resize(TILE, Image.LANCZOS), light)


def star(number):
    """A frame of a night in which one star moves."""
    image = Image.new("L", TILE, 20)
    x, y = 20 + 19 * number, 90 - 24 * number + 3 * number * number
    ImageDraw.Draw(image).ellipse([x - 4, y - 4, x + 4, y + 4], fill=235)
    return image


def sources(program):
    """Writes the images before the operators, and the second images, to the working directory."""
    chance = random.Random(20261126)
    vivid = scene(*TILE)
    vivid.save("foggy.png")
    subprocess.run([program, "foggy.png", "vivid.png", "-q", "--stages",
                    "contrast:0.2,gamma:0.8,saturation:3,whitebalance:1.1:1:0.8"], check=True)
    subprocess.run([program, "vivid.png", "cast.png", "-q", "--stages", "whitebalance:0.8:1:0.5"], check=True)
    vivid = Image.open("vivid.png").convert("RGB")
    vivid.save("profile.png", icc_profile=open(PROFILE, "rb").read())
    flat = ImageOps.invert(Image.radial_gradient("L")).resize(TILE).point(lambda v: 90 + v * 2 // 3)
    flat.save("flat.png")
    cells(chance, flat).save("cells.png")
    ImageOps.expand(vivid.resize((100, 75)), (36, 20, 24, 25), (205, 205, 205)).save("margin.png")
    logo = Image.new("RGBA", (54, 30))
    ImageDraw.Draw(logo).rounded_rectangle([0, 0, 53, 29], 8, fill=(250, 250, 250, 200))
    ImageDraw.Draw(logo).text((8, 8), "imgpipe", font=font(10, bold=True), fill=(30, 60, 120))
    logo.save("logo.png")
    oval = Image.new("L", TILE)
    ImageDraw.Draw(oval).ellipse([12, 8, TILE[0] - 13, TILE[1] - 9], fill=255)
    oval.filter(ImageFilter.GaussianBlur(6)).save("oval.png")
    for number in range(7):
        grainy(vivid.convert("L").convert("RGB"), chance, 28).save(f"noisy_{number}.png")
        star(number).save(f"star_{number}.png")
    for number, turn in enumerate((None, *list(Image.Transpose)[:3])):
        (vivid if turn is None else vivid.transpose(turn)).save(f"turn_{number}.png")


def operators(program, target):
    """Makes the sheet: a labelled pair of images for each operator."""
    sources(program)
    os.mkdir("pairs")
    for number, (name, options) in enumerate(OPERATORS):
        given = [option for option in options.split() if options.startswith("--")] or ["--stages", options]
        subprocess.run([program, name, "after.png", "-q", "--overwrite", *given], check=True)
        pair = Image.new("RGB", CELL, "white")
        for x, path in ((0, name.replace("*", "0")), (TILE[0] + 4, "after.png")):
            image = Image.open(path).convert("RGB")
            pair.paste(image, (x + (TILE[0] - image.width) // 2, (TILE[1] - image.height) // 2))
        ImageDraw.Draw(pair).text((0, TILE[1] + 2), options, font=font(12), fill="black")
        pair.save(f"pairs/{number:02}.png")
    subprocess.run([program, "pairs", target, "-q", "--overwrite", "--montage", "3x", "--cell",
                    f"{CELL[0]}x{CELL[1]}", "--quality", "88"], check=True)


def photograph(program, path, target):
    """The photograph before and after, side by side."""
    subprocess.run([program, path, "after.png", "-q", *PHOTOGRAPH], check=True)
    pair = Image.new("RGB", (2 * SIDE + GAP, SIDE), "white")
    for x, name in ((0, path), (SIDE + GAP, "after.png")):
        pair.paste(Image.open(name).convert("RGB").resize((SIDE, SIDE), Image.Resampling.LANCZOS), (x, 0))
    pair.save(target, quality=88, optimize=True)


def draw_page(path, height, target):
    """The top of an HTML page, drawn by Chromium."""
    subprocess.run(["chromium", "--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size=960,{height}",
                    "--screenshot=page_shot.png", "file://" + os.path.abspath(path)], check=True,
                   stderr=subprocess.DEVNULL)
    Image.open("page_shot.png").convert("RGB").save(target, quality=80, optimize=True)


def report(program, path, target):
    """The HTML report of a run."""
    shutil.copy(path, "photograph.jpg")
    subprocess.run([program, "photograph.jpg", "page.png", "-q", "--cpu", "--report", "run.html", *PAGE], check=True)
    draw_page("run.html", 1320, target)


def main(arguments):
    if not 1 <= len(arguments) <= 3:
        print(__doc__, file=sys.stderr)
        return 2
    program, *pictured = map(os.path.abspath, arguments)
    with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
        operators(program, os.path.join(HERE, "operators.jpg"))
        if pictured:
            photograph(program, pictured[0], os.path.join(HERE, "photograph.jpg"))
            report(program, pictured[0], os.path.join(HERE, "report.jpg"))
        if pictured[1:]:
            draw_page(pictured[1], 1145, os.path.join(HERE, "lab.jpg"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
