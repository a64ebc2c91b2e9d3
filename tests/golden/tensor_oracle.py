"""Part of oracle.py: the stage normalize, whose results are the bits of floats."""
import struct

from plane import Plane, Refused, has_alpha, single, white_of

PRESETS = {"imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
           "clip": ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)),
           "siglip": ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))}


# Each operation on floats is rounded once: a double holds twice the digits, so that rounding it again is harmless.
FORMULAS = {
    "transformers": lambda v, white, m, s: single(single(single(v * (1 / white)) - m) / s),
    "totensor": lambda v, white, m, s: single(single(single(v / white) - m) / s),
    "torchvision-v2": lambda v, white, m, s: single(single(single(v * single(1 / white)) - m) / s),
    "transformers-fused": lambda v, white, m, s: single(single(v - single(m * white)) / single(s * white)),
}


def float16(value):
    try:
        return struct.unpack("<H", struct.pack("<e", value))[0]
    except OverflowError:
        return 0xFC00 if value < 0 else 0x7C00


def bfloat16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    low, high = bits % 65536, bits // 65536
    return high + (low > 32768 or (low == 32768 and high % 2 == 1))


ELEMENTS = {"float32": ("f32", lambda value: struct.unpack("<I", struct.pack("<f", value))[0]),
            "float16": ("f16", float16), "bfloat16": ("bf16", bfloat16)}


def normalize(planes, preset="custom", mean=None, std=None, dtype="float32", layout="nchw", formula="transformers"):
    if preset == "custom":
        mean, std = ([single(float(v)) for v in text.split("/")] for text in (mean, std))
    else:
        mean, std = ([single(v) for v in values] for values in PRESETS[preset])
    if has_alpha(planes) or (len(planes) == 1 and len(mean) > 1):
        raise Refused
    sample, bits = ELEMENTS[dtype]
    made = []
    for c, plane in enumerate(planes):
        m, s = mean[c % len(mean)], std[c % len(std)]
        table = {v: bits(FORMULAS[formula](v, plane.white, m, s)) for v in set().union(*plane)}
        made.append([[table[v] for v in row] for row in plane])
    white = white_of(32 if sample == "f32" else 16)
    return [Plane(p, white, sample) for p in ([sum(made, [])] if layout == "nchw" else made)]
