"""The report of a run."""
from typing import TypedDict

__all__ = ["Report"]


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
