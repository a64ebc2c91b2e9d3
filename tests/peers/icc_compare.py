#!/usr/bin/env python3
"""Compares `icc:srgb` with the transforms of lcms2: icc_compare.py IMGPIPE [DIRECTORY]

The true colours are those of lcms2's transform in doubles without optimisations; the transform that lcms2 makes by
default, for integers, is listed too. Profiles are made here: RGB with a matrix (Adobe RGB, Display P3, ProPhoto RGB)
and with tables, grey, CMYK. With DIRECTORY, also its JPEG, TIFF and PNG files of 8 bits that have a profile other than
sRGB. Differences are in levels of the result. Fails if a difference exceeds LIMITS.

Needs numpy, Pillow, and liblcms2.so.2.
"""
import ctypes
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

PERCEPTUAL, RELATIVE = 0, 1
NO_OPTIMIZE, BLACK_POINT = 0x0100, 0x2000
# The greatest and the mean difference for 8 and 16 bits.
LIMITS = {"curve": {8: (0.51, 0.3), 16: (1.1, 0.4)}, "matrix33": {8: (0.7, 0.3), 16: (3, 0.6)},
          "lcms33": {8: (30, 0.4), 16: (8000, 60)}, "lcms17": {8: (25, 0.4), 16: (6000, 60)}}


class Lcms:
    """Transforms of profiles to sRGB, as files store it: its primaries are rounded to 65536ths."""

    def __init__(self):
        self.library = ctypes.CDLL("liblcms2.so.2")
        for name in ("cmsOpenProfileFromMem", "cmsCreate_sRGBProfile", "cmsCreateTransform"):
            getattr(self.library, name).restype = ctypes.c_void_p
        srgb = ctypes.c_void_p(self.library.cmsCreate_sRGBProfile())
        size = ctypes.c_uint32()
        self.library.cmsSaveProfileToMem(srgb, None, ctypes.byref(size))
        stored = ctypes.create_string_buffer(size.value)
        self.library.cmsSaveProfileToMem(srgb, stored, ctypes.byref(size))
        self.srgb = self.open(stored.raw)
        self.grey = self.open(grey_profile(parametric(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)))

    def open(self, profile):
        return ctypes.c_void_p(self.library.cmsOpenProfileFromMem(profile, len(profile)))

    def convert(self, profile, pixels, intent, exact):
        """The colours of pixels (n x channels) in sRGB: samples of their type or, if exact, levels as doubles."""
        channels, white = pixels.shape[1], 255 if pixels.dtype == np.uint8 else 65535
        out_channels = 1 if channels == 1 else 3
        spaces = {1: 3, 3: 4, 4: 6}  # PT_GRAY, PT_RGB, PT_CMYK
        code = lambda n: spaces[n] << 16 | n << 3 | (1 << 22 if exact else pixels.dtype.itemsize)
        flags = (NO_OPTIMIZE if exact else 0) | (BLACK_POINT if intent == RELATIVE else 0)
        transform = ctypes.c_void_p(self.library.cmsCreateTransform(
            self.open(profile), code(channels), self.grey if channels == 1 else self.srgb, code(out_channels), intent,
            flags))
        source = np.ascontiguousarray(pixels / white * (100 if channels == 4 else 1) if exact else pixels)
        made = np.empty((len(pixels), out_channels), np.float64 if exact else pixels.dtype)
        self.library.cmsDoTransform(transform, source.ctypes.data_as(ctypes.c_void_p),
                                    made.ctypes.data_as(ctypes.c_void_p), len(pixels))
        self.library.cmsDeleteTransform(transform)
        return np.clip(made, 0, 1) * white if exact else made


def fixed(*values):
    return struct.pack(f">{len(values)}i", *(round(v * 65536) for v in values))


def parametric(*values):
    return b"para\0\0\0\0\0\3\0\0" + fixed(*values)


def gamma(value):
    return struct.pack(">4s4xIH2x", b"curv", 1, round(value * 256))


def profile(space, pcs, tags, kind=b"mntr", version=0x02400000):
    table, data = b"", b""
    for name, tag in tags.items():
        table += struct.pack(">4sII", name.encode(), 132 + 12 * len(tags) + len(data), len(tag))
        data += tag + bytes(-len(tag) % 4)
    head = struct.pack(">I4xI4s4s4s12x4s28x", 132 + len(table) + len(data), version, kind, space, pcs, b"acsp")
    head += fixed(0.9642, 1, 0.8249) + bytes(48)
    return head + struct.pack(">I", len(tags)) + table + data


def matrix_profile(primaries, curve):
    tags = {f"{c}XYZ": b"XYZ \0\0\0\0" + fixed(*primary) for c, primary in zip("rgb", primaries)}
    return profile(b"RGB ", b"XYZ ", tags | {f"{c}TRC": curve for c in "rgb"})


def grey_profile(curve):
    return profile(b"GRAY", b"XYZ ", {"wtpt": b"XYZ \0\0\0\0" + fixed(0.9642, 1, 0.8249), "kTRC": curve})


def lab_of(xyz):
    t = xyz / np.array([0.9642, 1, 0.8249])
    f = np.where(t > 216 / 24389, np.cbrt(t), (t * 24389 / 27 + 16) / 116)
    return np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)


def table_profile(space, channels, points, xyz_of):
    """A profile of version 2 with a table of 16 bits in Lab."""
    axes = np.meshgrid(*[np.linspace(0, 1, points)] * channels, indexing="ij")
    lab = lab_of(xyz_of(np.stack(axes, -1)))
    words = np.stack([lab[..., 0] * 652.8, (lab[..., 1] + 128) * 256, (lab[..., 2] + 128) * 256], -1)
    line = struct.pack(">2H", 0, 65535)
    table = struct.pack(">4s4x4B", b"mft2", channels, 3, points, 0) + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1)
    table += struct.pack(">2H", 2, 2) + line * channels
    table += np.clip(np.round(words), 0, 65535).astype(">u2").tobytes() + line * 3
    white = b"XYZ \0\0\0\0" + fixed(0.9642, 1, 0.8249)
    return profile(space, b"Lab ", {"wtpt": white, "A2B0": table, "A2B1": table}, b"prtr")


def printed(inks):
    """Light of four inks: each multiplies that of the paper, with a gain of the dots."""
    ink = inks ** 0.75
    full = np.array([[0.14, 0.20, 0.60], [0.33, 0.16, 0.19], [0.78, 0.82, 0.09], [0.02, 0.02, 0.02]])
    return np.prod(1 - ink[..., None] * (1 - full), -2) * np.array([0.86, 0.89, 0.73])


def displayed(samples):
    light = samples ** 2.1
    return 0.008 + 0.98 * light @ np.array([[0.62, 0.30, 0.02], [0.19, 0.63, 0.06], [0.15, 0.07, 0.72]])


PROFILES = {
    "grey 2.2": (1, "curve", grey_profile(gamma(2.2))),
    "grey 1.0": (1, "curve", grey_profile(gamma(1))),
    "Adobe RGB": (3, "matrix33", matrix_profile(
        [(0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457)], gamma(2.19921875))),
    "Display P3": (3, "matrix33", matrix_profile(
        [(0.51512, 0.24120, -0.00105), (0.29198, 0.69225, 0.04189), (0.15710, 0.06657, 0.78407)],
        parametric(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045))),
    "ProPhoto RGB": (3, "matrix33", matrix_profile(
        [(0.79767, 0.28804, 0), (0.13519, 0.71188, 0), (0.03134, 0.00009, 0.82491)], gamma(1.8))),
    "RGB tables": (3, "lcms33", table_profile(b"RGB ", 3, 17, displayed)),
    "CMYK": (4, "lcms17", table_profile(b"CMYK", 4, 9, printed)),
}


def tiff(pixels, height, icc):
    """An uncompressed TIFF with a profile."""
    width, channels, bits = len(pixels) // height, pixels.shape[1], 8 * pixels.dtype.itemsize
    data, entries = pixels.astype(f"<u{bits // 8}").tobytes(), []
    end = [8 + len(data)]
    extra = b""
    def entry(tag, kind, count, value, stored=b""):
        nonlocal extra
        if stored:
            value = end[0] + len(extra)
            extra += stored + bytes(len(stored) % 2)
        entries.append(struct.pack("<HHII", tag, kind, count, value))
    entry(256, 4, 1, width)
    entry(257, 4, 1, height)
    entry(258, 3, channels, bits, struct.pack(f"<{channels}H", *[bits] * channels) if channels > 2 else b"")
    entry(259, 3, 1, 1)
    entry(262, 3, 1, {1: 1, 3: 2, 4: 5}[channels])
    entry(273, 4, 1, 8)
    entry(277, 3, 1, channels)
    entry(278, 4, 1, height)
    entry(279, 4, 1, len(data))
    entry(34675, 7, len(icc), 0, icc)
    directory = struct.pack("<H", len(entries)) + b"".join(entries) + bytes(4)
    return b"II*\0" + struct.pack("<I", end[0] + len(extra)) + data + extra + directory


def read_netpbm(data):
    kind, _, size, white, pixels = data.split(b"\n", 4)  # the second line is imgpipe's mark
    width, height = map(int, size.split())
    return np.frombuffer(pixels, ">u2" if int(white) > 255 else "u1").reshape(width * height, 1 if kind == b"P5" else 3)


def converted(program, path, directory, stages, grey):
    out = os.path.join(directory, "out.pgm" if grey else "out.ppm")
    subprocess.run([program, path, out, "--stages", stages, "-q", "--overwrite"], check=True)
    with open(out, "rb") as file:
        return read_netpbm(file.read())


def compare(name, rule, bits, got, true, usual):
    """Prints a line; returns whether the differences are within the limits."""
    off, theirs = np.abs(got - true), np.abs(usual - true)
    print(f"{name:<24} {rule:<9} {bits:>2} bits  greatest {off.max():8.2f}  mean {off.mean():7.3f}"
          f"   lcms2's default: {theirs.max():8.2f} {theirs.mean():7.3f}", flush=True)
    greatest, mean = LIMITS[rule][bits]
    return off.max() <= greatest and off.mean() <= mean


def photographs(directory):
    for below, _, names in os.walk(directory):
        for name in sorted(names):
            path = os.path.join(below, name)
            try:
                with Image.open(path) as image:
                    icc = image.info.get("icc_profile", b"")
                    if image.mode not in ("L", "RGB", "CMYK") or image.format not in ("JPEG", "PNG", "TIFF"):
                        continue
                    if icc and image.size[0] * image.size[1] < 60_000_000:
                        yield path, name, icc
            except Exception:  # not an image for Pillow
                continue


def main():
    program, lcms, good = os.path.abspath(sys.argv[1]), Lcms(), True
    random = np.random.default_rng(20261126)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "in.tif")
        for name, (channels, rule, icc) in PROFILES.items():
            for bits in (8, 16):
                white, dtype = (1 << bits) - 1, np.uint8 if bits == 8 else np.uint16
                pixels = random.integers(0, white + 1, (200_000, channels)).astype(dtype)
                greys = np.arange(white + 1).astype(dtype)
                pixels[:white + 1] = greys[:, None]
                for intent, word in ((PERCEPTUAL, "perceptual"), (RELATIVE, "relative")):
                    with open(path, "wb") as file:
                        file.write(tiff(pixels, 400, icc))
                    got = converted(program, path, directory, f"icc:srgb:{word}", channels == 1)
                    good &= compare(f"{name}, {word}", rule, bits, got, lcms.convert(icc, pixels, intent, True),
                                    lcms.convert(icc, pixels, intent, False).astype(float))
        for path, name, icc in photographs(sys.argv[2]) if len(sys.argv) > 2 else ():
            with Image.open(path) as image:
                pixels = np.asarray(image).reshape(-1, len(image.getbands()))
            if pixels.shape[1] == 4:
                pixels = 255 - pixels if b"Adobe" not in open(path, "rb").read(4096) else pixels
            described = subprocess.run([program, path, os.path.join(directory, "x.ppm"), "--stages", "icc:srgb", "-v",
                                        "--no-orient", "--overwrite"], capture_output=True, text=True)
            rule = next((r for r in LIMITS if f"rule={r}" in described.stderr + described.stdout), None)
            if rule is None:
                continue  # sRGB, or refused
            with open(os.path.join(directory, "x.ppm"), "rb") as file:
                got = read_netpbm(file.read())
            if got.shape[1] != (1 if pixels.shape[1] == 1 else 3):
                got = got[:, :1]
            good &= compare(name[:24], rule, 8, got, lcms.convert(icc, pixels, PERCEPTUAL, True),
                            lcms.convert(icc, pixels, PERCEPTUAL, False).astype(float))
    print("equal within the limits" if good else "a difference exceeds its limit")
    sys.exit(not good)


main()
