#!/usr/bin/env python3
"""Compares imgpipe's reading and writing of WebP with Pillow, cwebp, dwebp, webpinfo and webpmux.

    webp_compare.py IMGPIPE

Makes its own files. Pixels must be equal, and so must lossy files with the same settings. Exit 0: all equal; 1: a
difference; 77: Pillow, its WebP support or a program of the package webp is missing, nothing was compared.
"""
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = ("cwebp", "dwebp", "webpinfo", "webpmux")
try:
    from PIL import Image, features
except ImportError:
    print("SKIPPED: Pillow is not installed")
    sys.exit(77)
missing = [name for name in PROGRAMS if shutil.which(name) is None]
if missing or not features.check("webp"):
    print("SKIPPED: missing: " + " ".join(missing or ["Pillow's WebP"]))
    sys.exit(77)

SIZES = [(1, 1), (1, 17), (19, 1), (16, 16), (33, 15), (127, 61), (640, 481)]
failures = []
compared = 0


def check(what, equal):
    global compared
    compared += 1
    if not equal:
        failures.append(what)
        print("DIFFERENT: " + what)


def run(*arguments):
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


class Peers:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def path(self, name):
        return os.path.join(self.folder, name)

    def imgpipe(self, source, target, *options):
        run(self.program, source, target, "-q", "--overwrite", "--stages", "hist", *options)

    def rgba_by_imgpipe(self, source):
        """The pixels as imgpipe reads them: no stage changes them, and PNG keeps them."""
        target = self.path("read.png")
        self.imgpipe(source, target)
        with Image.open(target) as image:
            return image.convert("RGBA").tobytes()

    def rgba_by_dwebp(self, source):
        run("dwebp", "-quiet", source, "-o", self.path("dwebp.png"))
        with Image.open(self.path("dwebp.png")) as image:
            return image.convert("RGBA").tobytes()


def picture(width, height, channels, content, random_source):
    if content == "noise":
        data = bytes(random_source.randrange(256) for _ in range(width * height * channels))
    else:
        data = bytes((3 * x + 2 * y * (c + 1)) % 256 if c < 3 else (5 * y + x) % 256
                     for y in range(height) for x in range(width) for c in range(channels))
    return Image.frombytes("RGB" if channels == 3 else "RGBA", (width, height), data)


def read_by_all(peers, path, what):
    with Image.open(path) as image:
        by_pillow = image.convert("RGBA").tobytes()
    ours = peers.rgba_by_imgpipe(path)
    check(what + ": reading, Pillow", ours == by_pillow)
    check(what + ": reading, dwebp", ours == peers.rgba_by_dwebp(path))


def check_reading(peers, image, what):
    image.save(peers.path("in.png"))
    for options in (["-lossless", "-exact"], ["-z", "9", "-exact"], ["-q", "30"], ["-q", "90", "-m", "6"],
                    ["-q", "75", "-alpha_method", "0"], ["-near_lossless", "40"], ["-q", "75", "-alpha_q", "20"]):
        if "9" in options and image.size[0] > 200:
            continue  # takes minutes
        path = peers.path("by_cwebp.webp")
        run("cwebp", "-quiet", *options, peers.path("in.png"), "-o", path)
        read_by_all(peers, path, f"{what} cwebp {' '.join(options)}")
    for options in ({"lossless": True, "exact": True}, {"quality": 60}, {"quality": 95, "method": 6}):
        path = peers.path("by_pillow.webp")
        image.save(path, "WEBP", **options)
        read_by_all(peers, path, f"{what} Pillow {options}")


def check_writing(peers, image, what):
    source, path = peers.path("in.png"), peers.path("out.webp")
    image.save(source)
    pixels = image.convert("RGBA").tobytes()
    for level in ("0", "1", "5"):
        peers.imgpipe(source, path, "--webp-level", level)
        with Image.open(path) as back:
            check(f"{what} lossless {level}: Pillow reads what was written", back.convert("RGBA").tobytes() == pixels)
        check(f"{what} lossless {level}: dwebp too", peers.rgba_by_dwebp(path) == pixels)
        check(f"{what} lossless {level}: webpinfo", b"No error detected" in run("webpinfo", path))
    for quality, level, method in ((40, "1", "1"), (90, "6", "4")):
        peers.imgpipe(source, path, "--webp", "lossy", "--quality", str(quality), "--webp-level", level)
        check(f"{what} lossy {quality}: webpinfo", b"No error detected" in run("webpinfo", path))
        run("cwebp", "-quiet", "-exact", "-q", str(quality), "-m", method, source, "-o", peers.path("cwebp.webp"))
        with Image.open(path) as ours, Image.open(peers.path("cwebp.webp")) as theirs:
            check(f"{what} lossy {quality}: cwebp's pixels",
                  ours.convert("RGBA").tobytes() == theirs.convert("RGBA").tobytes())
        # The files are equal except for our mark: without unknown chunks, webpmux writes the same for both.
        check(f"{what} lossy {quality}: cwebp's data", chunks_of(path) == chunks_of(peers.path("cwebp.webp")))


def chunks_of(path):
    with open(path, "rb") as file:
        data = file.read()
    chunks, at = [], 12
    while at < len(data):
        size = int.from_bytes(data[at + 4:at + 8], "little")
        if data[at:at + 4] in (b"VP8 ", b"VP8L", b"ALPH"):
            chunks.append(data[at:at + 8 + size])
        at += 8 + size + size % 2
    return chunks


def check_animations(peers, image, what):
    frames = [image, image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
    for options in ({"lossless": True}, {"quality": 70}):
        path = peers.path("animated.webp")
        frames[0].save(path, "WEBP", save_all=True, append_images=frames[1:], duration=50, **options)
        with Image.open(path) as animated:
            animated.seek(0)
            first = animated.convert("RGBA").tobytes()
        check(f"{what} animation {options}", peers.rgba_by_imgpipe(path) == first)
    # A frame that does not cover the canvas.
    image.save(peers.path("frame.webp"), "WEBP", lossless=True, exact=True)
    image.resize((image.size[0] + 9, image.size[1] + 7)).save(peers.path("large.webp"), "WEBP", lossless=True)
    run("webpmux", "-frame", peers.path("frame.webp"), "+40+4+2+0-b", "-frame", peers.path("large.webp"),
        "+40+0+0+0-b", "-o", peers.path("placed.webp"))
    with Image.open(peers.path("placed.webp")) as animated:
        animated.seek(0)
        theirs = animated.convert("RGBA")
        # If no frame has alpha, Pillow drops that of the canvas, and uncovered pixels are black in Pillow's result.
        ours = Image.frombytes("RGBA", theirs.size, peers.rgba_by_imgpipe(peers.path("placed.webp")))
        if image.mode == "RGB":
            theirs, ours = theirs.convert("RGB"), ours.convert("RGB")
        check(what + " a frame in its place", ours.tobytes() == theirs.tobytes())


def check_orientation(peers, image, what):
    for value in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = value
        path = peers.path("turned.webp")
        image.save(path, "WEBP", lossless=True, exact=True, exif=exif)
        from PIL import ImageOps
        with Image.open(path) as stored:
            turned = ImageOps.exif_transpose(stored).convert("RGBA").tobytes()
        check(f"{what} orientation {value}", peers.rgba_by_imgpipe(path) == turned)


def main():
    random_source = random.Random(5)
    with tempfile.TemporaryDirectory() as folder:
        peers = Peers(os.path.abspath(sys.argv[1]), folder)
        for (width, height), channels, content in itertools.product(SIZES, (3, 4), ("noise", "slopes")):
            image = picture(width, height, channels, content, random_source)
            what = f"{width}x{height} {'RGB' if channels == 3 else 'RGBA'} {content}:"
            check_reading(peers, image, what)
            check_writing(peers, image, what)
            if width < 200:
                check_animations(peers, image, what)
                check_orientation(peers, image, what)
    print(f"{compared} comparisons, {len(failures)} different (Pillow {Image.__version__}, "
          f"libwebp of Pillow {features.version('webp')})")
    return 1 if failures or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
