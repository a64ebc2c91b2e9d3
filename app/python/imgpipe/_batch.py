"""Arguments and results of Pipeline.batch(), results of Pipeline.map()."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ._arrays import is_image
from ._device_array import DeviceArray
from ._errors import explained

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Batch", "Result", "batch_arguments", "batch_result"]


class Batch(NamedTuple):
    """The result of Pipeline.batch() with on_error="return" or "skip".

    images:  an array (N, ...), or a list if the shapes differ or all images failed. With "return", the rows of failed
             images are zero, or their entries in a list are None; with "skip", failed images have no rows.
    errors:  one entry per source: None, or the exception.
    indices: one entry per row of images: the index of its source.
    """

    images: Any
    errors: list[Exception | None]
    indices: npt.NDArray[np.intp]


class Result(NamedTuple):
    """A result of Pipeline.map(): the source, and either the image or the error; the other one is None."""

    source: Any
    image: Any
    error: Exception | None


def batch_arguments(sources: Iterable[Any], boxes: npt.ArrayLike | None, flips: npt.ArrayLike | None
                    ) -> tuple[list[Any], npt.NDArray[np.int64] | None, npt.NDArray[np.bool_] | None]:
    """Return the sources with their boxes and flips."""
    if is_image(sources) and getattr(sources, "ndim", 2) < 4:
        shape = getattr(sources, "shape", None)
        got = type(sources).__name__ if shape is None else f"an array of shape {tuple(shape)}"
        raise TypeError(f"sources: expected a list of sources, got {got}; put it in a list")
    if isinstance(sources, (str, bytes, bytearray, memoryview)) or not isinstance(sources, Iterable):
        raise TypeError(f"sources: expected a list of sources, got {type(sources).__name__}")
    objects = list(sources)
    box_array = flip_array = None
    if boxes is not None:
        try:
            given = np.asarray(boxes)
        except ValueError:
            raise TypeError("boxes: expected integers (top, left, height, width), got rows that differ") from None
        if given.size == 0:
            given = given.astype(np.int64).reshape(-1, 4)
        if given.dtype.kind not in "iu":
            raise TypeError(f"boxes: expected integers (top, left, height, width), got {given.dtype}")
        if given.shape != (len(objects), 4):
            raise ValueError(f"boxes: expected {len(objects)} x 4 integers (top, left, height, width), "
                             f"got an array of shape {given.shape}")
        box_array = np.ascontiguousarray(given, np.int64)
    if flips is not None:
        given = np.asarray(flips)
        if given.size and not (given.dtype.kind in "biu" and np.isin(given, (0, 1)).all()):
            raise TypeError(f"flips: expected bools, got {given.dtype}")
        if given.shape != (len(objects),):
            raise ValueError(f"flips: expected {len(objects)} bools, got an array of shape {given.shape}")
        flip_array = np.ascontiguousarray(given, np.bool_)
    return objects, box_array, flip_array


def batch_result(images: Any, errors: list[Exception | None] | None, sources: list[Any], on_error: str) -> Any:
    """Return what batch() returns, or raise the first error."""
    if errors is not None:
        errors = [error and explained(error, source) for error, source in zip(errors, sources)]
    if on_error == "raise":
        for error in errors or ():
            if error is not None:
                raise error
        return images
    if errors is None:
        return Batch(images, [None] * len(sources), np.arange(len(sources)))
    if on_error == "return":
        return Batch(images, errors, np.arange(len(sources)))
    good = np.array([i for i, error in enumerate(errors) if error is None], np.intp)
    if isinstance(images, list):
        return Batch([images[i] for i in good], errors, good)
    if isinstance(images, DeviceArray):
        return Batch(images.keep_rows(good.tolist()), errors, good)
    for row, i in enumerate(good):  # in place, so that results remain in `out`
        if row != i:
            images[row] = images[i]
    return Batch(images[:len(good)], errors, good)
