"""Exceptions and warnings of the package."""
import errno
import os
from typing import Any

__all__ = ["DamageWarning", "DecodeError", "MissingFileError", "explained"]


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


def explained(error: Exception, source: object) -> Exception:
    """Return the error with its likely cause, if the source is the bytes of a path or a file object at its end."""
    if type(error) is DecodeError:
        if isinstance(source, bytes) and len(source) < 4096 and b"\0" not in source and os.path.exists(source):
            return DecodeError(f"{error.reason}; paths are str, not bytes", error.path)
        if hasattr(source, "read") and error.reason.startswith("the file is empty"):
            return DecodeError(f"{error.reason}: read from its position, which is the end of the file", error.path)
    return error


class DamageWarning(UserWarning):
    """A damaged image was decoded as far as possible, because lenient=True."""
