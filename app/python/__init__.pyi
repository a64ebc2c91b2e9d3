from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

__version__: str

class Device(TypedDict):
    implementation: str  # "cpu", "cuda", "reference"
    name: str
    why: str  # why auto took it; "" where it was named

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
    preset: str | None

class Stage(TypedDict):
    summary: str
    parameters: list[Parameter]

def run(array: npt.NDArray[np.uint8] | npt.NDArray[np.uint16], stages: str = "gray,hist,contrast,smooth", *,
        device: str = "auto", threads: int = 0) -> tuple[npt.NDArray[Any], Report]:
    """Runs the stages over an image, HxW or HxWxC with 1 to 4 channels; the array is only read.

    The result has the samples' type that the stages make, HxW where it has one channel, else HxWxC.
    Raises TypeError for samples of another type, ValueError for what cannot be meant, RuntimeError for a
    device that cannot be used, MemoryError.
    """

def stages() -> dict[str, Stage]:
    """Every stage by name, in the order of the program's --help."""
