"""Batches on a CUDA device."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from . import _core
from ._arguments import MAX_PIXELS, acceptance, bounded, memory_bytes
from ._arrays import image_array, is_image
from ._device_array import DeviceArray, device_input, wait_for_stream

if TYPE_CHECKING:
    import numpy.typing as npt

    from ._pipeline import Pipeline

__all__ = ["DeviceBatches", "decode", "memory_limit", "trim"]

_MAX_THREADS = 8  # threads that read and stage sources; more do not make a device faster


class DeviceBatches:
    """The stages of a pipeline on a device."""

    def __init__(self, stages: "_core.Stages", device: str, threads: int, layout: str | None, accept: str,
                 stream: object, max_pixels: int, orient: bool = True) -> None:
        self._device, self._stream = device, stream
        self._core = _core.DevicePipeline(stages, device, min(threads, _MAX_THREADS), layout, accept, max_pixels,
                                         orient)

    def batch(self, sources: list[Any], boxes: npt.NDArray[np.int64] | None, flips: npt.NDArray[np.bool_] | None,
              out: Any, with_index: bool) -> tuple[Any, list[Exception | None] | None]:
        """Return the results on the device, and the errors by source (None: all succeeded)."""
        wait_for_stream(self._device, self._stream)
        target = None
        if out is not None:
            target = device_input(out, self._device, "out")
            if target is None:
                raise TypeError(f"out: expected an array on {self._device}, got {type(out).__name__}")
        objects = [self._source(source) for source in sources]
        results, errors = self._core.batch(objects, boxes, flips, target, with_index)
        if out is not None:
            return out, errors
        if isinstance(results, list):
            return [None if result is None else DeviceArray(result) for result in results], errors
        return DeviceArray(results), errors

    def _source(self, source: Any) -> Any:
        if isinstance(source, (str, bytes, _core.ShardImage)):
            return source
        on_device = device_input(source, self._device, "array")
        if on_device is not None:
            return on_device
        return image_array(source) if is_image(source) else source


def decode(sources: list[Any], *, device: str, mode: str | None, orient: bool, lenient: bool | str, stream: object,
           threads: int = _MAX_THREADS) -> list[DeviceArray]:
    """Decode files to arrays on a device. `mode`: None, "L" or "RGB". Raises the error of the first that fails."""
    stages = {None: "none", "L": "gray", "RGB": "rgb"}.get(mode)
    if stages is None:
        raise ValueError(f"mode: expected None, L or RGB with a CUDA device, got {mode}")
    accept = acceptance(lenient)
    batches = DeviceBatches(_core.Stages(stages, [], accept, MAX_PIXELS), device, threads, None, accept, stream,
                            MAX_PIXELS, orient)
    images, errors = batches.batch(sources, None, None, None, len(sources) > 1)
    for error in errors or ():
        if error is not None:
            raise error
    return list(images)


def trim() -> None:
    """Free the memory that is kept for later calls, on the host and on devices, and end idle threads."""
    _core.trim_host()
    _core.trim_devices()


def memory_limit(limit: SupportsIndex | str | None = None) -> int:
    """Return the limit, in bytes, of imgpipe's memory on each CUDA device, besides results and the CUDA context.

    limit: the new limit, at least 64 MiB: bytes, or text such as "1.5G"; None: unchanged. The default is 400 MiB.

    All batches, reads and calls with arrays on a device share the limit; an image that alone needs more raises
    MemoryError. run(), convert() and run_directory() have the same limit for each call, and process images that need
    more in bands. Raises ValueError for a smaller limit than 64 MiB.
    """
    if limit is not None:
        _core.set_device_memory_limit(bounded("limit", memory_bytes(limit, "limit"), 64 << 20, 2**63 - 1))
    return _core.device_memory_limit()
