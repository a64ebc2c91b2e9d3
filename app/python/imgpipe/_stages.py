"""Stages as text and as objects."""
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import SupportsFloat, SupportsIndex, TypedDict

from . import _core  # before numpy: it rejects subinterpreters, in which numpy fails

import numpy as np

__all__ = ["Op", "Stages", "stages"]


class Parameter(TypedDict):
    """A parameter of a stage, with the texts that the command line accepts."""

    name: str
    help: str
    allowed: str
    required: bool
    preset: str | None


class Stage(TypedDict):
    """A row of stages()."""

    summary: str
    parameters: list[Parameter]


def stages() -> dict[str, Stage]:
    """Return every stage by name, in the order of the program's --help, with its summary and parameters."""
    return _core.stages()


@dataclass(frozen=True, slots=True)
class Op:
    """A stage with its parameters, made by a function of imgpipe.ops. str() gives its text, as on the command line."""

    text: str

    def __str__(self) -> str:
        return self.text


Stages = str | Op | Iterable[str | Op]


def stages_text(value: Stages) -> str:
    """Return the stages as on the command line."""
    if isinstance(value, (str, Op)):
        return str(value)
    example = "expected str, such as 'gray,smooth', or a list of imgpipe.ops"
    if isinstance(value, (bytes, bytearray)) or not isinstance(value, Iterable):
        raise TypeError(f"stages: {example}, got {type(value).__name__}")
    steps = list(value)
    for step in steps:
        if not isinstance(step, (str, Op)):
            raise TypeError(f"stages: {example}, got a list with {type(step).__name__}")
    return ",".join(map(str, steps)) or "none"


def op(stage: str, **values: object) -> Op:
    """Return a stage with these values; other parameters have their defaults."""
    texts = [(name, _texts(f"{stage}: {name}", value)) for name, value in values.items()]
    return Op(_core.step_text(stage, texts))


def color_text(value: str | Sequence[int]) -> str:
    """Return a colour (R, G, B) or (R, G, B, A) as #RRGGBB or #RRGGBBAA."""
    if isinstance(value, str):
        return value
    parts = list(value)
    if len(parts) not in (3, 4) or not all(hasattr(part, "__index__") and 0 <= part <= 255 for part in parts):
        raise ValueError(f"color: expected a name, '#RRGGBB' or 3 or 4 integers from 0 to 255, got {value!r:.80}")
    return "#" + bytes(parts).hex()


def _texts(where: str, value: object) -> list[str]:
    if isinstance(value, (list, tuple)):
        return [_value_text(where, element) for element in value]
    return [_value_text(where, value)]


def _value_text(where: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return np.dtype(value).name
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        return str(value.__index__())
    if isinstance(value, SupportsFloat) and not isinstance(value, bool):
        from decimal import Decimal

        return format(Decimal(repr(float(value))), "f")  # without an exponent
    raise TypeError(f"{where}: expected a number or str, got {type(value).__name__}")
