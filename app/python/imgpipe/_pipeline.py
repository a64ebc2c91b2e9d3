"""Pipelines over arrays."""
import operator
import time
from typing import Any, SupportsIndex, TypedDict

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import image_array

__all__ = ["Report", "run", "stages"]


class Device(TypedDict):
    implementation: str  # "cpu", "cuda", "reference"
    name: str
    why: str  # why auto chose it; "" if it was requested


class Image(TypedDict):
    width: int
    height: int
    channels: int
    bits_per_sample: int


class Range(TypedDict):
    step: str
    plane: int
    lo: int
    hi: int


class Row(TypedDict):
    name: str
    kind: str  # "host", "transfer", "kernel", "codec"
    time_ms: float
    bytes: int


class Report(TypedDict):
    device: Device
    input: Image
    output: Image
    steps: list[str]
    contrast: list[Range]
    rows: list[Row]
    notes: list[str]
    wall_ms: float


class Parameter(TypedDict):
    name: str
    help: str
    allowed: str
    required: bool
    preset: str | None


class Stage(TypedDict):
    summary: str
    parameters: list[Parameter]


def _text(name: str, value: object, example: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected str, such as {example!r}, got {type(value).__name__}")
    return value


def run(array: object, stages: str = "gray,hist,contrast,smooth", *, device: str = "auto",
        threads: SupportsIndex = 0) -> tuple[npt.NDArray[Any], Report]:
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
        count = operator.index(threads)
    except TypeError:
        raise TypeError(f"threads: expected int, got {type(threads).__name__}") from None
    result, report = _core.run(image_array(array), _text("stages", stages, "gray,smooth"), _text("device", device, "cpu"),
                               max(-1, min(count, 2**31 - 1)))
    report["wall_ms"] = 1e3 * (time.perf_counter() - start)
    return result, report


def stages() -> dict[str, Stage]:
    """Return every stage by name, in the order of the program's --help, with its summary and parameters."""
    return _core.stages()
