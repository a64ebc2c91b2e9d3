#!/usr/bin/env python3
"""Recomputes digests of docs/contract-1.json from the definitions in docs/contract.md, by Python alone.

    contract.py CONTRACT.json    exit 1 and a line for each digest that differs

Files decode to the images that they were made from; `invert` and `flip` are simple enough to repeat here.
"""
import hashlib
import json
import struct
import sys

SIZES = ((1, 1), (1, 7), (17, 5), (64, 3), (67, 41))
SPECIAL = (0x7FC00001, 0x7F800000, 0xFF800000, 0x80000000, 0x00000001, 0x80400000, 0x7F7FFFFF, 0xFFA00000)
MASK = (1 << 64) - 1


def mix(z):
    z = z + 0x9E3779B97F4A7C15 & MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def image(number, kind):
    """(width, height, channels, the bits of the samples)."""
    (width, height), channels = SIZES[number // 4], number % 4 + 1
    samples = []
    for n in range(width * height * channels):
        x, y, c = n // channels % width, n // channels // width, n % channels
        even = (x // 8 + y // 8) % 2 == 0
        random = mix((number << 32) + (n if even else (1 << 31) + (y // 8 * 4096 + x // 8) * 4 + c))
        if kind == "f32" and number // 4 == 2 and n % 7 == 3:
            samples.append(SPECIAL[n // 7 % 8])
        elif kind == "f32":
            samples.append(struct.unpack("<I", struct.pack("<f", ((random >> 40) - (1 << 22)) / (1 << 23)))[0])
        else:
            samples.append(random >> (56 if kind == "u8" else 48))
    return width, height, channels, samples


def inverted(kind, width, height, channels, samples):
    colors = channels - (channels % 2 == 0)
    white = 255 if kind == "u8" else 65535
    return [sample if n % channels >= colors else white - sample for n, sample in enumerate(samples)]


def flipped(_, width, height, channels, samples):
    return [samples[(y * width + width - 1 - x) * channels + c]
            for y in range(height) for x in range(width) for c in range(channels)]


def unchanged(_, width, height, channels, samples):
    return samples


ROWS = [(kind, work, unchanged) for work in ("npy", "tiff deflate") for kind in ("u8", "u16", "f32")]
ROWS += [(kind, "flip", flipped) for kind in ("u8", "u16", "f32")]
ROWS += [(kind, "invert", inverted) for kind in ("u8", "u16")]


def digest(kind, function):
    text = ""
    for number in range(20):
        width, height, channels, samples = image(number, kind)
        letter = {"u8": "B", "u16": "H", "f32": "I"}[kind]
        made = function(kind, width, height, channels, samples)
        pixels = hashlib.sha256(struct.pack(f"<{len(made)}{letter}", *made)).hexdigest()
        text += f"{width}x{height}x{channels} {kind} {pixels}\n"
    return hashlib.sha256(text.encode()).hexdigest()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = {row for rows in json.load(file)["groups"].values() for row in rows}
    wrong = [f"{kind} 0-19 {work}" for kind, work, function in ROWS
             if f"{digest(kind, function)} {kind} 0-19 {work}" not in rows]
    for row in wrong:
        print(f"contract: {row}: not the digest of docs/contract.md")
    print(f"contract: {len(ROWS) - len(wrong)} of {len(ROWS)} digests are as documented")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
