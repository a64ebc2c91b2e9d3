"""Arrays in the memory of a CUDA device."""
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from . import _core

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["DeviceArray", "device_input", "stream_number", "wait_for_stream"]

_CUDA, _CUDA_MANAGED = 2, 13  # of DLPack's device types


class DeviceArray:
    """An array in the memory of a CUDA device: the result of a pipeline.

    Other libraries use its memory without a copy: torch.from_dlpack(array), cupy.from_dlpack(array), or through
    __cuda_array_interface__. It is complete when it is returned, so any stream can read it at once. It owns its memory,
    together with the arrays of other libraries that were made from it. After the last of them is deleted, the memory is
    reused only after all work that any stream had queued by then.

    shape:  as for numpy arrays.
    dtype:  a numpy dtype, or the string "bfloat16", which numpy does not have.
    device: "cuda:0".
    """

    def __init__(self, core: "_core.DeviceResult") -> None:
        self._core = core

    @property
    def shape(self) -> tuple[int, ...]:
        return self._core.shape

    @property
    def dtype(self) -> "np.dtype[Any] | str":
        name = self._core.dtype
        return name if name == "bfloat16" else np.dtype(name)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def device(self) -> str:
        return f"cuda:{self._core.device_index}"

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: SupportsIndex | slice | None) -> "DeviceArray":
        """Return element `index` of the first axis, a slice of it, or (None) the array with a new first axis.

        The result shares the memory.
        """
        if index is None:
            return DeviceArray(self._core.expanded())
        if isinstance(index, slice):
            first, end, step = index.indices(len(self))
            if step != 1:
                raise ValueError(f"index: expected a slice with step 1, got step {step}")
            return DeviceArray(self._core.slice(first, max(end - first, 0)))
        i = operator.index(index)
        return DeviceArray(self._core.at(i + len(self) if i < 0 else i))

    def numpy(self) -> npt.NDArray[Any]:
        """Return a copy in host memory. Raises TypeError for bfloat16."""
        if isinstance(self.dtype, str):
            raise TypeError("numpy has no bfloat16; use torch.from_dlpack(array).float()")
        array = np.empty(self.shape, self.dtype)
        self._core.download(array)
        return array

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("copy: an array on a device is copied to host memory")
        return self.numpy() if dtype is None else self.numpy().astype(dtype, copy=False)

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        """Export by DLPack (the Python array API standard, 2024.12). Any `stream` can use the result at once."""
        if isinstance(stream, bool) or not (stream is None or isinstance(stream, int)):
            raise TypeError(f"stream: expected int or None, got {type(stream).__name__}")
        if stream is not None and (stream == 0 or stream < -1):
            raise ValueError(f"stream: expected -1, 1, 2 or a cudaStream_t, got {stream}")
        if dl_device is not None and tuple(dl_device) == (1, 0):
            if copy is False:
                raise BufferError("copy: an array on a device is copied to host memory")
            keywords: dict[str, Any] = {} if max_version is None else {"max_version": max_version}
            return self.numpy().__dlpack__(**keywords)
        return self._core.array().__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, self._core.device_index

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        kind = self._core.interface_type
        if kind is None:
            raise AttributeError("__cuda_array_interface__ has no bfloat16; use DLPack")
        return {"shape": self.shape, "typestr": kind, "data": (self._core.data, False), "version": 3, "strides": None,
                "stream": None}

    def __repr__(self) -> str:
        return f"DeviceArray(shape={self.shape}, dtype={self.dtype}, device={self.device!r})"

    def keep_rows(self, indices: "list[int]") -> "DeviceArray":
        """Move these rows, in ascending order, to the front, and return them."""
        self._core.compact(indices)
        return self[:len(indices)]


def stream_number(stream: object) -> int:
    """Return a stream's number: an int, or an object of torch, cupy, numba or cuda.core."""
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    for name in ("cuda_stream", "ptr", "handle"):
        value = getattr(stream, name, None)
        if value is not None:
            return int(getattr(value, "value", value) or 0)
    if isinstance(stream, int) and not isinstance(stream, bool) and stream >= 0:
        return stream
    raise TypeError(f"stream: expected an int or a stream of torch, cupy or numba, got {type(stream).__name__}")


def wait_for_stream(device: str, stream: object) -> None:
    """Wait for the work that is queued on a stream; None: nothing."""
    if stream is not None:
        _core.wait_for_stream(device, stream_number(stream))


def _capsule(source: Any, stream: int) -> Any:
    try:
        return source.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:  # before DLPack 1
        return source.__dlpack__(stream=stream)


def device_input(source: Any, device: str, argument: str) -> "_core.DeviceInput | None":
    """Return an array on a CUDA device, once its producer's work is done; None for other objects.

    argument: how messages name it.
    """
    if isinstance(source, (str, bytes, np.ndarray)):
        return None
    if hasattr(source, "__dlpack_device__"):
        if source.__dlpack_device__()[0] not in (_CUDA, _CUDA_MANAGED):
            return None
        capsule = _core.from_producer(device, lambda stream: _capsule(source, stream))
        make = _core.DeviceInput.writable if argument == "out" else _core.DeviceInput
        return make(capsule, argument)
    interface = getattr(source, "__cuda_array_interface__", None)
    if interface is None:
        return None
    if interface.get("stream") is not None:
        _core.wait_for_stream(device, interface["stream"])
    if not _core.is_on_device(device, interface["data"][0]):
        raise ValueError(f"{argument}: the array is not in the memory of {device}")
    if argument == "out" and interface["data"][1]:
        raise ValueError("out: the array is read-only")
    kind, shape = interface["typestr"], list(interface["shape"])
    strides = interface.get("strides")
    if strides is None:
        strides = (np.cumprod([1, *shape[:0:-1]])[::-1] * np.dtype(kind).itemsize).tolist()
    return _core.DeviceInput(source, interface["data"][0], shape, list(strides), kind, _core.device_index(device),
                             argument)
