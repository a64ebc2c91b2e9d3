"""imgpipe: an image-processing pipeline that is exact to the byte. See run() and stages()."""
import operator
import os
import sys
import time

import numpy

from . import _core
from ._core import __version__

__all__ = ["__version__", "run", "stages"]

_PIL_MODES = ("L", "LA", "RGB", "RGBA", "I;16")  # modes that store the samples themselves, in this order


def _array_of(image):
    """Return the image as a numpy array, without a copy if numpy needs none."""
    if isinstance(image, numpy.ndarray):
        return image
    if (pil := sys.modules.get("PIL.Image")) and isinstance(image, pil.Image):
        if image.mode not in _PIL_MODES:
            raise TypeError(f"array: unsupported PIL mode {image.mode}; convert it to one of {', '.join(_PIL_MODES)}, "
                            "for example image.convert('RGB')")
        return numpy.asarray(image)
    if isinstance(image, (list, tuple)) or hasattr(type(image), "__array__") or hasattr(image, "__array_interface__"):
        return numpy.asarray(image)
    remedy = ""
    if isinstance(image, (str, bytes, bytearray, os.PathLike)):
        remedy = "; decode a file first, for example with numpy.asarray(PIL.Image.open(path))"
    raise TypeError("array: expected a numpy array of uint8, uint16 or float32, a PIL image or an array-like object, "
                    f"got {type(image).__name__}{remedy}")


def _text(name, value, example):
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected str, such as {example!r}, got {type(value).__name__}")
    return value


def run(array, stages=_core.DEFAULT_STAGES, *, device="auto", threads=0):
    """Run the stages over an image and return (result, report).

    array:   the image, which is not modified: uint8, uint16 or float32 (white is 1), HxW or HxWxC with 1 to 4 channels
             (grey, grey and alpha, RGB, RGBA). A numpy array, a PIL image, or an object that numpy.asarray() accepts.
    stages:  names with their parameters, in order: "gray,contrast:clip=0.5,resize:640:480". See stages().
    device:  "auto", "cpu", "reference", "cuda" or "cuda:N".
    threads: the number of CPU threads; 0: as many as this process may use.

    The result is a new array with the sample type that the stages produce: HxW for one channel, otherwise HxWxC. The
    report is a dictionary with the device, steps, contrast ranges and times.

    Raises TypeError for an argument or samples of the wrong type, ValueError for a value that is not allowed,
    RuntimeError for a device that cannot be used, and MemoryError.
    """
    start = time.perf_counter()
    try:
        threads = operator.index(threads)
    except TypeError:
        raise TypeError(f"threads: expected int, got {type(threads).__name__}") from None
    result, report = _core.run(_array_of(array), _text("stages", stages, "gray,smooth"), _text("device", device, "cpu"),
                               max(-1, min(threads, 2**31 - 1)))
    report["wall_ms"] = 1e3 * (time.perf_counter() - start)
    return result, report


def stages():
    """Return every stage by name, in the order of the program's --help, with its summary and parameters."""
    return _core.stages()
