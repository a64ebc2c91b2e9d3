"""Images that callers pass as arrays."""
from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    import numpy.typing as npt

_PIL_MODES = ("L", "LA", "RGB", "RGBA", "I;16")  # modes that store the samples themselves, in this order

_PIL_REMEDIES = {"I": "pass numpy.asarray(image).astype(numpy.uint16) if its values are 0 to 65535",
                 "I;16B": "pass numpy.asarray(image).astype(numpy.uint16)",
                 "F": "pass numpy.asarray(image), in which 1 is white"}


def is_image(source: object) -> bool:
    """Return whether a source holds pixels, rather than a file: an array that is not 1-D, or a PIL image."""
    if isinstance(source, numpy.ndarray):
        return source.ndim != 1
    pil = sys.modules.get("PIL.Image")
    return bool(pil and isinstance(source, pil.Image)) or getattr(source, "ndim", 1) != 1


def image_array(image: object, name: str = "array") -> npt.NDArray[Any]:
    """Return the image as a numpy array, without a copy if numpy needs none. Messages name the argument."""
    if isinstance(image, numpy.ndarray):
        return image
    if (pil := sys.modules.get("PIL.Image")) and isinstance(image, pil.Image):
        if image.mode not in _PIL_MODES:
            remedy = _PIL_REMEDIES.get(image.mode, f"convert it to one of {', '.join(_PIL_MODES)}, "
                                       "for example image.convert('RGB')")
            raise TypeError(f"{name}: unsupported PIL mode {image.mode}; {remedy}")
        return numpy.asarray(image)
    if isinstance(image, (list, tuple)) or hasattr(type(image), "__array__") or hasattr(image, "__array_interface__"):
        return numpy.asarray(image)
    remedy = ""
    if isinstance(image, (str, bytes, bytearray, os.PathLike)):
        remedy = "; decode a file first with imgpipe.read(path)"
    raise TypeError(f"{name}: expected a numpy array of uint8, uint16 or float32, a PIL image or an array-like object, "
                    f"got {type(image).__name__}{remedy}")
