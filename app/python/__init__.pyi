from typing import Any, Protocol, SupportsIndex, TypedDict

import numpy as np
import numpy.typing as npt

__version__: str

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

class ArrayInterface(Protocol):  # PIL images too
    @property
    def __array_interface__(self) -> dict[str, Any]: ...

def run(array: npt.ArrayLike | ArrayInterface, stages: str = "gray,hist,contrast,smooth", *, device: str = "auto",
        threads: SupportsIndex = 0) -> tuple[npt.NDArray[Any], Report]: ...
def stages() -> dict[str, Stage]: ...
