"""The engines that run a pipeline: the host, or a device."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ._arrays import image_array, is_image

if TYPE_CHECKING:
    import numpy.typing as npt

    from . import _core
    from ._device import DeviceBatches

__all__ = ["DeviceEngine", "Engine", "HostEngine", "Opened"]


class Opened(Protocol):
    """An opened image that is not decoded yet."""

    def needed_bytes(self, threads: int) -> int: ...  # of host memory, the result included
    def run(self, threads: int) -> Any: ...


class Engine(Protocol):
    @property
    def threads(self) -> int: ...
    def run_array(self, array: object, out: Any) -> Any: ...
    def read(self, source: object, out: Any) -> Any: ...
    def open(self, source: object) -> Opened: ...
    def batch(self, sources: list[Any], boxes: npt.NDArray[np.int64] | None, flips: npt.NDArray[np.bool_] | None,
              out: Any, stop_at_error: bool) -> tuple[Any, list[Exception | None] | None]:
        """Return the results, and the errors by source (None: all succeeded)."""


class HostEngine:
    def __init__(self, core: "_core.Pipeline") -> None:
        self._core = core
        self.threads = core.threads

    def run_array(self, array: object, out: Any) -> Any:
        return self._core.run_array(image_array(array), out)

    def read(self, source: object, out: Any) -> Any:
        return self._core.read(source, out)

    def open(self, source: object) -> Opened:
        return self._core.open(image_array(source) if is_image(source) else source)

    def batch(self, sources: list[Any], boxes: npt.NDArray[np.int64] | None, flips: npt.NDArray[np.bool_] | None,
              out: Any, stop_at_error: bool) -> tuple[Any, list[Exception | None] | None]:
        objects = [image_array(source) if is_image(source) else source for source in sources]
        return self._core.batch(objects, boxes, flips, out, stop_at_error)


class DeviceEngine:
    """Runs everything as batches on a device."""

    def __init__(self, batches: "DeviceBatches", threads: int) -> None:
        self._batches = batches
        self.threads = threads

    def run_array(self, array: object, out: Any) -> Any:
        return self.read(array, out)

    def read(self, source: object, out: Any) -> Any:
        images, errors = self.batch([source], None, None, None if out is None else out[None], False)
        if errors is not None and errors[0] is not None:
            raise errors[0]
        return images[0] if out is None else out

    def open(self, source: object) -> Opened:
        return _OnDevice(self, source)

    def batch(self, sources: list[Any], boxes: npt.NDArray[np.int64] | None, flips: npt.NDArray[np.bool_] | None,
              out: Any, stop_at_error: bool) -> tuple[Any, list[Exception | None] | None]:
        return self._batches.batch(sources, boxes, flips, out, stop_at_error)


class _OnDevice:
    def __init__(self, engine: DeviceEngine, source: object) -> None:
        self._engine, self._source = engine, source

    def needed_bytes(self, threads: int) -> int:
        return 0

    def run(self, threads: int) -> Any:
        return self._engine.read(self._source, None)
