"""Exceptions and warnings of the package."""
import os

__all__ = ["DamageWarning", "DecodeError"]


class DecodeError(ValueError):
    """An image cannot be decoded.

    path: the name of its source, such as a path; None for bytes in memory.
    reason: one line without the path.
    """

    def __init__(self, reason: str, path: str | os.PathLike[str] | None = None) -> None:
        self.reason = reason
        self.path = None if path is None else os.fspath(path)
        super().__init__(reason, self.path)  # the arguments that pickle passes

    def __str__(self) -> str:
        return self.reason if self.path is None else f"{self.path}: {self.reason}"


class DamageWarning(UserWarning):
    """A damaged image was decoded as far as possible, because lenient=True."""
