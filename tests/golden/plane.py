"""The planes of an image, and the arithmetic that the parts of oracle.py share."""
import struct
from fractions import Fraction


class Plane(list):
    """Rows of samples from 0 to `white`: 255 or 65535. Of a tensor: the bits of floats, and `dtype`."""

    def __init__(self, rows, white, dtype=None):
        super().__init__(rows)
        self.white, self.dtype = white, dtype

    def sample(self):
        """The sample type in golden files: the bits of integers, "f32", "f16" or "bf16"."""
        return self.dtype or bits_of(self.white)


class Refused(Exception):
    """A step that is impossible for this image."""


def half_up(value):
    """The nearest integer to a non-negative fraction, halves upwards."""
    numerator, denominator = value.as_integer_ratio()
    return (2 * numerator + denominator) // (2 * denominator)


def single(value):
    """A value rounded to a 32-bit float. The product of two such floats is exact before that."""
    return struct.unpack("f", struct.pack("f", value))[0]


def white_of(bits):
    return (1 << int(bits)) - 1


def bits_of(white):
    return white.bit_length()


def has_alpha(planes):
    return len(planes) in (2, 4)
