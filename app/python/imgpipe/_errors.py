"""Exceptions and warnings of the package."""
import errno
import os
from typing import Any

__all__ = ["DamageWarning", "DecodeError", "MissingFileError"]


class DecodeError(ValueError):
    """An image cannot be decoded.

    path: the name of its source, such as a path; None for bytes in memory.
    reason: one line without the path.
    """

    def __init__(self, reason: str, path: str | os.PathLike[str] | None = None) -> None:
        self.reason: str = reason
        self.path: str | None = None if path is None else os.fspath(path)
        super().__init__(reason, self.path)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.reason, self.path)

    def __str__(self) -> str:
        return self.reason if self.path is None else f"{self.path}: {self.reason}"


class MissingFileError(DecodeError, FileNotFoundError):
    """The file of a path does not exist."""

    def __init__(self, reason: str, path: str | os.PathLike[str]) -> None:
        super().__init__(reason, path)
        self.errno: int | None = errno.ENOENT
        self.strerror: str | None = reason
        self.filename: Any = self.path


class DamageWarning(UserWarning):
    """A damaged image was decoded as far as possible, because lenient=True."""
