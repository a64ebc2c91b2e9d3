#!/usr/bin/env python3
"""Compares imgpipe's decoding with Pillow's, over real files and damaged copies of them.

    pillow_decoding.py PROGRAM [CORPUS] [--mutations N] [--seed S] [--installed-library] [--list]

Both sides become 8-bit RGB: Pillow's first frame by ImageOps.exif_transpose() and convert("RGB"); imgpipe's by depth:8,
grey replicated, alpha dropped. Three comparisons:

1. Every file below CORPUS, and files of every format and mode that Pillow writes, if both read it, strictly: equal
   pixels, or one of REASONS.
2. Every JPEG and PNG of these with --accept pillow: the same verdict and, for accepted files, equal pixels.
3. The same for N (1,000) damaged copies of those files, of at most 300 KB: truncated, bytes changed, inserted or
   deleted, markers and chunks inserted, deleted or exchanged. --seed makes others.

Pixels of damaged JPEGs depend on the version of libjpeg-turbo. Comparisons 2 and 3 therefore preload the library that
Pillow's wheel brings. --installed-library keeps imgpipe's; differences of JPEGs are then counted, but are not failures.

Prints every difference without a reason and exits with 1 if there is one. --list prints the others, too. Needs numpy
and Pillow 13.0 from PyPI.
"""
import argparse
import collections
import glob
import io
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import warnings
import zlib

import numpy
import PIL
from PIL import Image, ImageOps

MAX_PIXELS = 30_000_000
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
JPEG_SIGNATURE = b"\xff\xd8\xff"
REASONS = {
    "depth": "more than 8 bits: imgpipe rounds; Pillow clips grey above 255, and takes the upper byte of colours",
    "hidden": "only where alpha is 0: imgpipe has black, Pillow the palette's colour",
    "bmp": "5 or 6 bits in a BMP: imgpipe rounds v * 255 / 31, Pillow rounds down",
    "library": "a damaged JPEG and another version of libjpeg-turbo",
}
WRITTEN = {"TIFF": ({}, {"compression": "tiff_lzw", "tiffinfo": {317: 2}}, {"compression": "tiff_adobe_deflate"},
                    {"compression": "packbits"}, {"compression": "jpeg"}, {"compression": "group4"}),
           "JPEG": ({"subsampling": 0}, {"subsampling": 1}, {"subsampling": 2}, {"progressive": True},
                    {"keep_rgb": True}, {"restart_marker_blocks": 3}),
           "TGA": ({}, {"compression": "tga_rle"}), "WEBP": ({}, {"lossless": True}, {"quality": 50}),
           "BMP": ({},), "GIF": ({},), "PNG": ({},), "PPM": ({},)}
SUITABLE = {"tiff_lzw": ("L", "LA", "RGB", "RGBA", "P", "CMYK", "I;16"), "jpeg": ("L", "RGB", "CMYK"), "group4": ("1",)}
LIMITS = ("progressive scans", "header segments", "too large", "max-pixels")  # of imgpipe, which Pillow does not have

# pixels: an array of height x width x 4, or None if the file was rejected for `reason`.
Outcome = collections.namedtuple("Outcome", "pixels reason mode layout", defaults=("", ""))


def written_files():
    """Names and bytes of files of every format, mode and size."""
    noise = numpy.random.default_rng(1)
    for width, height in ((1, 1), (37, 23), (130, 71)):
        y, x = numpy.mgrid[0:height, 0:width]
        planes = [128 + 90 * numpy.sin(x / (7 + k) + y / (11 - k)) + noise.normal(0, 9, x.shape) for k in range(4)]
        colors = numpy.clip(numpy.stack(planes, axis=2), 0, 255).astype(numpy.uint8)
        image = Image.fromarray(colors, "RGBA")
        modes = [image.convert(mode) for mode in ("1", "L", "LA", "RGB", "RGBA", "YCbCr")] + [
            image.convert("RGB").quantize(50), Image.fromarray(colors, "CMYK"),
            Image.fromarray(colors[:, :, 0].astype(numpy.uint16) * 257)]
        for converted in modes:
            for kind, variants in WRITTEN.items():
                for options in variants:
                    if converted.mode not in SUITABLE.get(options.get("compression"), converted.mode):
                        continue  # libtiff would print an error
                    file = io.BytesIO()
                    try:
                        converted.save(file, kind, **options)
                    except (OSError, ValueError, KeyError, RuntimeError):
                        continue  # the format has no such images
                    yield f"{kind} {converted.mode} {width}x{height} {options or ''}", file.getvalue()
        for orientation in range(1, 9):
            exif = Image.Exif()
            exif[0x0112] = orientation
            for kind in ("JPEG", "PNG", "TIFF", "WEBP"):
                file = io.BytesIO()
                image.convert("RGB").save(file, kind, exif=exif)
                yield f"{kind} {width}x{height} orientation {orientation}", file.getvalue()


def read_with_pillow(data):
    """The outcome in Pillow; None if the image is too large for this comparison."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            if image.width * image.height > MAX_PIXELS:
                return None
            mode, layout = image.mode, str(image.tile)
            pixels = image.convert("RGB")
            try:
                pixels = ImageOps.exif_transpose(image).convert("RGB")
            except Exception:  # of many types, for damaged metadata
                pass
            return Outcome(numpy.asarray(pixels.convert("RGBA")), "", mode, layout)
    except Exception as error:  # of many types, for damaged files
        return Outcome(None, f"{type(error).__name__}: {error}"[:100])


def read_with_imgpipe(program, files, options, library=None):
    """The outcomes of files {number: bytes}, from one batch. The format is detected from the content."""
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(os.path.join(directory, "in"))
        for number, data in files.items():
            with open(os.path.join(directory, "in", f"{number:06}.png"), "wb") as file:
                file.write(data)
        command = [program, directory + "/in", directory + "/out/", "--stages", "depth:8", "--format", "png"]
        command += ["--png-level", "0", "--metadata", "strip", "--max-pixels", str(MAX_PIXELS), "--device", "cpu"]
        command += options
        environment = dict(os.environ, LD_PRELOAD=library) if library else None
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, env=environment)
        if done.returncode not in (0, 1):
            sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr[-2000:]}")
        reasons = dict(re.findall(r"^imgpipe: \S*/in/(\d{6})\.png: (.*)$", done.stderr, re.MULTILINE))
        outcomes = {}
        for number in files:
            path = os.path.join(directory, "out", f"{number:06}.png")
            outcomes[number] = Outcome(None, reasons.get(f"{number:06}", "no output"))
            if os.path.exists(path):
                with Image.open(path) as image:
                    outcomes[number] = Outcome(numpy.asarray(image.convert("RGBA")), "")
    return outcomes


def difference(expected, got):
    """How two outcomes differ, or ''."""
    if expected.pixels is None or got.pixels is None:
        if (expected.pixels is None) == (got.pixels is None):
            return ""
        return f"Pillow: {expected.reason or 'accepted'}; imgpipe: {got.reason or 'accepted'}"
    if expected.pixels.shape != got.pixels.shape:
        return f"Pillow: {expected.pixels.shape[1::-1]} pixels; imgpipe: {got.pixels.shape[1::-1]}"
    wrong = numpy.argwhere((expected.pixels != got.pixels)[..., :3].any(axis=2))
    if len(wrong) == 0:
        return ""
    y, x = wrong[0]
    return (f"{len(wrong)} pixels; at ({x}, {y}) Pillow: {expected.pixels[y, x, :3]}, imgpipe: {got.pixels[y, x, :3]}")


def reason_of(expected, got):
    """The key of REASONS for the different pixels of a strictly read file, or None."""
    if expected.pixels.shape != got.pixels.shape:
        return None
    if expected.mode.startswith("I") or ";16B" in expected.layout:
        return "depth"
    apart = numpy.abs(expected.pixels.astype(int) - got.pixels)[..., :3]
    if not apart[got.pixels[..., 3] != 0].any():
        return "hidden"
    return "bmp" if re.search("BGR;1[56]", expected.layout) and apart.max() == 1 else None


def jpeg_mutation(rng, data):
    kind = rng.randrange(3)
    at = rng.randrange(2, len(data))
    if kind == 0:
        marker = bytes((0xFF, rng.choice(b"\x00\x01\xc0\xc4\xd0\xd1\xd3\xd7\xd8\xd9\xda\xdb\xdd\xe0\xee\xfe\xff")))
        return data[:at] + marker + data[at + rng.choice((0, 2)):]
    if kind == 1:
        scan = min(data.rfind(b"\xff\xda") + 14, len(data) - 1)
        return changed(rng, data, scan, len(data), rng.choice((1, 3, 20)))
    start = rng.randrange(len(data))
    return data[:at] + data[start:start + rng.randrange(200)] + data[at:]


def chunks_of(data):
    at, chunks = 8, []
    while at + 12 <= len(data):
        length, = struct.unpack_from(">I", data, at)
        if at + 12 + length > len(data):
            break
        chunks.append((data[at + 4:at + 8], data[at + 8:at + 8 + length]))
        at += 12 + length
    return chunks


def file_of(chunks):
    def packed(number):
        return struct.pack(">I", number)

    return PNG_SIGNATURE + b"".join(packed(len(data)) + name + data + packed(zlib.crc32(name + data))
                                    for name, data in chunks)


def png_mutation(rng, data):
    """Other chunks with correct checksums."""
    chunks = chunks_of(data)
    if not chunks:
        return data
    i, j = rng.randrange(len(chunks)), rng.randrange(len(chunks))
    name, content = chunks[i]
    kind = rng.randrange(7)
    if kind == 0:
        del chunks[i]
    elif kind == 1:
        chunks[i], chunks[j] = chunks[j], chunks[i]
    elif kind == 2:
        chunks[i] = name, content[:rng.randrange(len(content) + 1)]
    elif kind == 3:
        chunks[i] = name, changed(rng, content, 0, len(content), rng.choice((1, 2)))
    elif kind == 4:
        names = b"tEXt zTXt iTXt gAMA cHRM sRGB pHYs tRNS PLTE acTL fcTL fdAT eXIf abcd ABCD iCCP IHDR sBIT".split()
        size = rng.choice((0, 1, 2, 3, 4, 6, 8, 9, 13, 26, 30, 32, 40))
        chunks.insert(i, (rng.choice(names), bytes(rng.choice((0, 0, 1, rng.randrange(256))) for _ in range(size))))
    else:
        stream = b"".join(data for name, data in chunks if name == b"IDAT")
        try:
            rows = zlib.decompress(stream)
            rows = rows[:rng.randrange(len(rows) + 1)] if kind == 5 else rows + bytes(rng.randrange(300))
            stream = changed(rng, zlib.compress(rows), 0, len(stream), rng.choice((0, 0, 1)))
        except zlib.error:
            pass
        size = rng.choice((1, 2, 50, 1000, max(1, len(stream) - 4), len(stream) + 1))
        first = [name for name, _ in chunks].index(b"IDAT") if b"IDAT" in dict(chunks) else 0
        chunks = [chunk for chunk in chunks if chunk[0] != b"IDAT"]
        chunks[first:first] = [(b"IDAT", stream[at:at + size]) for at in range(0, len(stream), size)]
    return file_of(chunks)


def changed(rng, data, start, end, count):
    out = bytearray(data)
    for _ in range(count if end > start else 0):
        at = min(rng.randrange(start, end), len(out) - 1)
        out[at] = rng.choice((rng.randrange(256), out[at] ^ 1 << rng.randrange(8)))
    return bytes(out)


def mutation(rng, data):
    kind = rng.randrange(10)
    at = rng.randrange(3, len(data))
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:-rng.randrange(1, 60)]
    if kind == 2:
        return changed(rng, data, 0, len(data), rng.choice((1, 2, 5)))
    if kind == 3:
        return changed(rng, data, 0, min(len(data), 800), rng.choice((1, 2)))
    if kind == 4:
        return data[:at] + rng.randbytes(rng.choice((1, 2, 7, 100))) + data[at:]
    if kind == 5:
        return data[:at] + data[at + rng.choice((1, 2, 9, 100)):]
    if kind == 6:
        return data + rng.randbytes(rng.choice((1, 5, 300)))
    return jpeg_mutation(rng, data) if data.startswith(JPEG_SIGNATURE) else png_mutation(rng, data)


class Comparison:
    def __init__(self, arguments):
        self.arguments = arguments
        self.counts = collections.Counter()
        self.failures = 0

    def add(self, title, what, key):
        self.counts[f"{title}: {REASONS[key] if key else 'DIFFERENT'}"] += 1
        self.failures += key is None
        if key is None or self.arguments.list:
            print(f"{title}: {what}" + (f" ({key})" if key else ""))

    def compare(self, title, files, names, options, library):
        """Compares files {number: bytes}; strictly without options."""
        outcomes = read_with_imgpipe(self.arguments.program, files, options, library)
        for number, data in files.items():
            expected, got = read_with_pillow(data), outcomes[number]
            rejected = expected is not None and (expected.pixels is None or got.pixels is None)
            if expected is None or any(limit in got.reason for limit in LIMITS) or (rejected and not options):
                self.counts[f"{title}: not compared"] += 1
                continue
            what = difference(expected, got)
            if not what:
                self.counts[f"{title}: equal {'verdict' if rejected else 'pixels'}"] += 1
                continue
            key = None if options else reason_of(expected, got)
            if options and data.startswith(JPEG_SIGNATURE) and library is None:
                key = "library"
            self.add(title, f"{names[number]}: {what}", key)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("corpus", nargs="?")
    parser.add_argument("--mutations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--installed-library", action="store_true")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    Image.MAX_IMAGE_PIXELS = None
    library = next(iter(glob.glob(os.path.join(os.path.dirname(PIL.__file__), "..", "pillow.libs", "libjpeg*"))), None)
    if arguments.installed_library:
        library = None
    elif library is None:
        sys.exit("this Pillow brings no libjpeg-turbo; install it from PyPI, or add --installed-library")

    made = list(written_files())
    names, files = dict(enumerate(name for name, _ in made)), dict(enumerate(data for _, data in made))
    for directory, below, found in os.walk(arguments.corpus) if arguments.corpus else ():
        below.sort()
        for name in sorted(found):
            with open(os.path.join(directory, name), "rb") as file:
                files[len(files)] = file.read()
            names[len(names)] = os.path.relpath(os.path.join(directory, name), arguments.corpus)
    print(f"Pillow {PIL.__version__}, {len(files)} files")
    comparison = Comparison(arguments)
    comparison.compare("strict", files, names, [], None)
    as_pillow = {number: data for number, data in files.items() if data.startswith((JPEG_SIGNATURE, PNG_SIGNATURE))}
    comparison.compare("pillow", as_pillow, names, ["--accept", "pillow"], library)

    sources = [number for number, data in as_pillow.items() if len(data) <= 300_000]
    for start in range(0, arguments.mutations, 500):
        made, made_names = {}, {}
        for number in range(start, min(start + 500, arguments.mutations)):
            rng = random.Random(arguments.seed * 1_000_003 + number)
            source = rng.choice(sources)
            made[number] = mutation(rng, files[source])
            made_names[number] = f"{names[source]}, mutation {number}"
        comparison.compare("mutations", made, made_names, ["--accept", "pillow"], library)
    for what, count in sorted(comparison.counts.items()):
        print(f"{count:7} {what}")
    return 1 if comparison.failures else 0


if __name__ == "__main__":
    sys.exit(main())
