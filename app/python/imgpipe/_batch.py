"""Arguments and results of Pipeline.batch()."""
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._device_array import DeviceArray

__all__ = ["Batch", "batch_arguments", "batch_result"]


class Batch(NamedTuple):
    """The result of Pipeline.batch() with on_error="return" or "skip".

    images:  an array (N, ...), or a list if the shapes differ. With "return", the rows of failed images are zero, or
             their entries in a list are None; with "skip", failed images have no rows.
    errors:  one entry per source: None, or the exception.
    indices: one entry per row of images: the index of its source.
    """

    images: Any
    errors: list[Exception | None]
    indices: npt.NDArray[np.intp]


def batch_arguments(sources: Iterable[Any], boxes: npt.ArrayLike | None, flips: npt.ArrayLike | None
                    ) -> tuple[list[Any], npt.NDArray[np.int64] | None, npt.NDArray[np.bool_] | None]:
    """Return the sources with their boxes and flips."""
    if isinstance(sources, (str, bytes, bytearray, memoryview)) or not isinstance(sources, Iterable):
        raise TypeError(f"sources: expected a list of sources, got {type(sources).__name__}")
    objects = list(sources)
    box_array = flip_array = None
    if boxes is not None:
        given = np.asarray(boxes)
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
        if given.size and given.dtype != np.bool_:
            raise TypeError(f"flips: expected bools, got {given.dtype}")
        if given.shape != (len(objects),):
            raise ValueError(f"flips: expected {len(objects)} bools, got an array of shape {given.shape}")
        flip_array = np.ascontiguousarray(given, np.bool_)
    return objects, box_array, flip_array


def batch_result(images: Any, errors: list[Exception | None] | None, count: int, on_error: str) -> Any:
    """Return what batch() returns, or raise the first error."""
    if on_error == "raise":
        for error in errors or ():
            if error is not None:
                raise error
        return images
    if errors is None:
        return Batch(images, [None] * count, np.arange(count))
    if on_error == "return":
        return Batch(images, errors, np.arange(count))
    good = np.array([i for i, error in enumerate(errors) if error is None], np.intp)
    if isinstance(images, list):
        return Batch([images[i] for i in good], errors, good)
    if isinstance(images, DeviceArray):
        return Batch(images.keep_rows(good.tolist()), errors, good)
    for row, i in enumerate(good):  # in place, so that results remain in `out`
        if row != i:
            images[row] = images[i]
    return Batch(images[:len(good)], errors, good)
