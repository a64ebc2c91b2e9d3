#!/usr/bin/env python3
"""Makes JPEGs of every kind that our own decoder supports from photographs, for decode_speed.

    make_photos.py OUT_FOLDER PHOTO... [--megapixels 2,8,47] [--qualities 75,90,95]

Each photograph is scaled (by Lanczos) to each size and written as 4:2:0, 4:2:2, 4:4:4 and grey, with and without
restart markers (one per row of MCUs, like phones). Needs Pillow, and jpegtran for the markers.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

from PIL import Image

JPEGTRAN = shutil.which("jpegtran")
KINDS = {"420": ("RGB", "4:2:0"), "422": ("RGB", "4:2:2"), "444": ("RGB", "4:4:4"), "grey": ("L", None)}


def numbers(text):
    return [float(each) for each in text.split(",")]


def make(photo, name, megapixels, quality, folder):
    factor = (megapixels * 1e6 / (photo.width * photo.height)) ** 0.5
    size = (round(photo.width * factor), round(photo.height * factor))
    large = photo.resize(size, Image.Resampling.LANCZOS)
    for kind, (mode, sampling) in KINDS.items():
        path = folder / f"{name}_{megapixels:g}MP_q{int(quality)}_{kind}.jpg"
        options = {"subsampling": sampling} if sampling else {}
        large.convert(mode).save(path, "JPEG", quality=int(quality), **options)
        print(path)
        if JPEGTRAN:
            marked = path.with_name(f"{path.stem}_restarts.jpg")
            subprocess.run([JPEGTRAN, "-restart", "1", "-outfile", marked, path], check=True)
            print(marked)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("photos", type=pathlib.Path, nargs="+")
    parser.add_argument("--megapixels", type=numbers, default=[8])
    parser.add_argument("--qualities", type=numbers, default=[90])
    options = parser.parse_args()
    if not JPEGTRAN:
        print("make_photos.py: no jpegtran: the files with restart markers are left out", file=sys.stderr)
    options.folder.mkdir(parents=True, exist_ok=True)
    for path in options.photos:
        photo = Image.open(path).convert("RGB")
        for megapixels in options.megapixels:
            for quality in options.qualities:
                make(photo, path.stem, megapixels, quality, options.folder)


if __name__ == "__main__":
    main()
