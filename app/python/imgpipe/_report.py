"""The report of a run."""
from typing import TypedDict

__all__ = ["Report"]


class Device(TypedDict):
    """The device that ran the steps."""

    implementation: str  # "cpu", "cuda", "reference"
    name: str
    why: str  # why auto chose it; "" if it was requested


class Image(TypedDict):
    """The size of an image."""

    width: int
    height: int
    channels: int
    bits_per_sample: int


class Range(TypedDict):
    """The samples that a contrast step stretched."""

    step: str
    plane: int
    lo: int
    hi: int


class Row(TypedDict):
    """The time of a step, and the bytes that it read and wrote."""

    name: str
    kind: str  # "host", "transfer", "kernel", "codec"
    time_ms: float
    bytes: int


class Report(TypedDict):
    """The report of Pipeline.run(), with the keys of the program's JSON report."""

    device: Device
    input: Image
    output: Image
    steps: list[str]
    contrast: list[Range]
    rows: list[Row]
    notes: list[str]
    wall_ms: float
