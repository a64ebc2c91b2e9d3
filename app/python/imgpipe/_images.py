"""The second images of steps, such as dark in subtract:dark."""
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import image_array

__all__ = ["Images", "image_list", "second_images"]

Images = Mapping[str, Any]  # names; paths, arrays, or PIL images


def second_images(images: Images | None) -> dict[str, Any]:
    """Return paths, and read-only copies of arrays, by name."""
    if images is None:
        return {}
    if not isinstance(images, Mapping):
        raise TypeError(f"images: expected a dict of names and images, got {type(images).__name__}")
    return {_name(name): _path_or_copy(f"images[{name!r}]", image) for name, image in images.items()}


def image_list(images: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return the images as the core takes them: paths as bytes."""
    return [(name, os.fsencode(image) if isinstance(image, str) else image) for name, image in images.items()]


def _name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"images: expected names of type str, got {type(name).__name__}")
    return name


def _path_or_copy(argument: str, image: object) -> Any:
    if isinstance(image, (str, os.PathLike)):
        return os.fsdecode(image)
    copy = np.array(image_array(image, argument))
    copy.flags.writeable = False
    return copy
