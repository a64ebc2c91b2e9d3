#!/usr/bin/env python3
"""Compares imgpipe's reading of AVIF, HEIC and JPEG XL with the libraries' programs and Pillow.

    avif_heic_jxl_compare.py IMGPIPE [FILE...]

Without files, encodes photographs by avifenc, heif-enc and cjxl. Pixels of HEIC and JPEG XL must equal those of heif-
convert and djxl of the same libraries, except that heif-convert scales 10 and 12 bits by shifts. Pixels of AVIF may
differ from those of avifdec, which converts colours by libyuv, by at most 4 of 255. Against Pillow 13 with pillow-
heif and pillow-jxl-plugin, which contain other versions of the libraries, the greatest difference and the share of
equal samples are printed. Exit codes: 0; 1: a difference; 77: a program, numpy, OpenCV or Pillow is missing, nothing
was compared.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

try:
    import cv2
    import numpy
    from PIL import Image
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAMS = ("avifenc", "avifdec", "heif-enc", "heif-convert", "cjxl", "djxl")
TOOLS = {"avif": ("avifdec", 4), "heic": ("heif-convert", 0.25), "heif": ("heif-convert", 0.25), "jxl": ("djxl", 0)}
CODINGS = {
    "avif": (("rgb", "-y", "420"), ("rgb", "-y", "444"), ("rgb", "--lossless"), ("grey", "-y", "400"), ("rgba",),
             ("rgb16", "-d", "10"), ("rgb16", "-d", "12", "-y", "444"), ("rgb", "-r", "limited")),
    "heic": (("rgb",), ("rgb", "-p", "chroma=444"), ("grey",), ("rgba",), ("rgb16", "-b", "10"), ("rgb16", "-b", "12")),
    "jxl": (("rgb",), ("rgb", "-p"), ("rgb", "-d", "0"), ("rgba", "-d", "0"), ("grey", "-d", "0"), ("la", "-d", "0"),
            ("rgb16", "-d", "0"), ("rgb", "-e", "3", "--patches", "1"), ("rgba", "-d", "2")),
}


def photographs(directory):
    """Writes PNG files of 301x203 pixels: smooth with noise."""
    y, x = numpy.mgrid[0:203, 0:301]
    waves = numpy.stack([numpy.sin(x / 17 + y / 31), numpy.cos(x / 23), numpy.sin(y / 13)], -1)
    noise = numpy.random.default_rng(5).normal(0, 8, waves.shape)
    rgb = numpy.clip(127 + 100 * waves + noise, 0, 255)
    alpha = (x % 256)[..., None]
    eight = rgb.astype(numpy.uint8)
    images = {"rgb": eight, "grey": eight[..., 0], "rgba": numpy.dstack([eight, alpha.astype(numpy.uint8)]),
              "rgb16": (rgb * 257).astype(numpy.uint16)}
    for name, image in images.items():
        cv2.imwrite(f"{directory}/{name}.png", image)
    Image.fromarray(numpy.dstack([eight[..., 0], alpha.astype(numpy.uint8)]), "LA").save(f"{directory}/la.png")


def encode(kind, coding, directory, path):
    """Encodes one file; returns whether the program supports the options."""
    source, *options = coding
    source = f"{directory}/{source}.png"
    command = {"avif": ["avifenc", *options, source, path], "heic": ["heif-enc", *options, source, "-o", path],
               "jxl": ["cjxl", *options, source, path]}[kind]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def as_colours(image, channels):
    """Returns grey as colours, and opaque alpha, so that programs of different habits can be compared."""
    if image.ndim == 2:
        image = numpy.dstack([image] * 3)
    if image.shape[2] == 3 and channels == 4:
        image = numpy.dstack([image, numpy.full(image.shape[:2], numpy.iinfo(image.dtype).max, image.dtype)])
    return image


def difference(ours, theirs):
    """Returns the greatest difference, in units of 8 bits, and the share of equal samples."""
    if ours.dtype != theirs.dtype:
        ours, theirs = ((a if a.dtype == numpy.uint8 else (a.astype(int) * 255 + 32767) // 65535)
                        for a in (ours, theirs))
    channels = max(1 if a.ndim == 2 else a.shape[2] for a in (ours, theirs))
    ours, theirs = as_colours(ours, channels), as_colours(theirs, channels)
    if ours.shape != theirs.shape:
        return 255.0, 0.0
    gaps = numpy.abs(ours.astype(int) - theirs.astype(int))
    return gaps.max() / (257 if ours.dtype == numpy.uint16 else 1), float(numpy.mean(gaps == 0))


def by_pillow(path):
    """Returns Pillow's pixels in OpenCV's order, or None if it lacks the plugin."""
    try:
        with Image.open(path) as image:
            pixels = numpy.array(image.convert("RGBA" if "A" in image.mode else "RGB"))
    except OSError:
        return None
    return numpy.ascontiguousarray(pixels[..., [2, 1, 0, 3][:pixels.shape[2]]])


def compare(imgpipe, path, directory):
    """Prints one line; returns whether the pixels equal the library's program."""
    tool, most = TOOLS[path.rsplit(".", 1)[1].lower()]
    ours, theirs = f"{directory}/ours.png", f"{directory}/theirs.png"
    # avifdec does not rotate.
    turn = ["--no-orient"] if tool == "avifdec" else []
    made = subprocess.run([imgpipe, path, ours, "--stages", "none", "-q", "--overwrite", *turn], check=False)
    shown = subprocess.run([tool, path, theirs], capture_output=True, check=False)
    if made.returncode != 0 or shown.returncode != 0:
        print(f"{path}: imgpipe exit {made.returncode}, {tool} exit {shown.returncode}")
        return made.returncode != 0 and shown.returncode != 0
    pixels = cv2.imread(ours, cv2.IMREAD_UNCHANGED)
    gap, equal = difference(pixels, cv2.imread(theirs, cv2.IMREAD_UNCHANGED))
    line = f"{path}: {tool}: greatest difference {gap:.3g}, equal {equal:.2%}"
    pillow = by_pillow(path)
    if pillow is not None:
        line += "; Pillow: greatest difference {:.3g}, equal {:.2%}".format(*difference(pixels, pillow))
    print(line)
    return gap <= most


def main():
    """Compares the files of the command line, or those that it makes."""
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        print(f"SKIPPED: not installed: {' '.join(missing)}")
        return 77
    for plugin in ("pillow_heif", "pillow_jxl"):
        try:
            module = __import__(plugin)
            getattr(module, "register_heif_opener", lambda: None)()
        except ImportError:
            print(f"without {plugin}")
    imgpipe = str(pathlib.Path(sys.argv[1]).resolve())
    good = True
    with tempfile.TemporaryDirectory() as directory:
        paths = sys.argv[2:]
        if not paths:
            photographs(directory)
            for kind, codings in CODINGS.items():
                for number, coding in enumerate(codings):
                    path = f"{directory}/{number}_{'_'.join(coding).replace('-', '').replace('=', '')}.{kind}"
                    if encode(kind, coding, directory, path):
                        paths.append(path)
        for path in paths:
            good = compare(imgpipe, path, directory) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
