"""Checks of arguments."""
import operator
import re
from collections.abc import Callable
from typing import Any, SupportsIndex

__all__ = ["LARGEST", "MAX_PIXELS", "acceptance", "bounded", "function_of", "integer", "memory_bytes", "one_of",
           "shown", "text"]

LARGEST = 2**31 - 1
MAX_PIXELS = 268_435_456  # of the program's --max-pixels

_UNITS = {"": 1, "B": 1, **{prefix + unit: base ** exponent
                            for exponent, prefix in enumerate("KMGT", 1)
                            for unit, base in (("", 1024), ("IB", 1024), ("B", 1000))}}


def text(name: str, value: object, example: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name}: expected str, such as {example!r}, got {type(value).__name__}")
    return value


def integer(name: str, value: SupportsIndex) -> int:
    """Return an int that fits 32 bits; larger values are out of every range."""
    try:
        return max(-1, min(operator.index(value), LARGEST))
    except TypeError:
        raise TypeError(f"{name}: expected int, got {type(value).__name__}") from None


def shown(value: object) -> str:
    """Return the value for a message if it is short, else the name of its type."""
    short = repr(value) if isinstance(value, (str, int, float)) else ""
    return short if 0 < len(short) <= 40 else type(value).__name__


def bounded(name: str, value: SupportsIndex, low: int, high: int) -> int:
    """Return an int from `low` to `high`; with LARGEST, messages name no upper limit for a smaller value."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected int, got {type(value).__name__}") from None
    if low <= number <= high:
        return number
    expected = f"{low} to {high}" if high != LARGEST or number > high else f"{low} or more"
    raise ValueError(f"{name}: expected {expected}, got {shown(number)}")


def function_of(name: str, value: object, parameters: str) -> Callable[..., Any]:
    if not callable(value):
        raise TypeError(f"{name}: expected a function of ({parameters}), got {type(value).__name__}")
    return value


def one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if not any(value is one or (isinstance(one, str) and value == one) for one in allowed):
        got = repr(value) if isinstance(value, (str, int, float)) else type(value).__name__
        raise (ValueError if isinstance(value, str) else TypeError)(
            f"{name}: expected {', '.join(map(repr, allowed[:-1]))} or {allowed[-1]!r}, got {got:.40}")


def acceptance(lenient: object) -> str:
    """Return the name in _core of a value of the argument `lenient`."""
    if lenient is False:
        return "strict"
    one_of("lenient", lenient, (False, True, "pillow"))
    return "lenient" if lenient is True else "pillow"


def memory_bytes(value: SupportsIndex | str, name: str = "memory") -> int:
    """Return bytes from an int or from text as the program's --memory accepts it: "1.5G", "100MB", "64MiB"."""
    if isinstance(value, str):
        match = re.fullmatch(r"(\d+(?:\.\d{1,6})?)([KMGT]?(?:I?B)?)", value.upper())
        if match and match[2] in _UNITS:
            return int(float(match[1]) * _UNITS[match[2]])
        raise ValueError(f"{name}: expected bytes, such as 500000000 or '1.5G', got {value[:40]!r}")
    bytes_ = operator.index(value) if hasattr(value, "__index__") else 0
    if bytes_ < 1:
        got = value if hasattr(value, "__index__") else type(value).__name__
        raise (ValueError if hasattr(value, "__index__") else TypeError)(
            f"{name}: expected bytes, such as 500000000 or '1.5G', got {got}")
    return bytes_
