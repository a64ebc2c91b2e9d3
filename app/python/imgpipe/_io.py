"""Reads and writes image files."""
from __future__ import annotations

import dataclasses
import operator
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex, TypeAlias, Union, overload

import numpy as np

from . import _core, _device
from ._arguments import LARGEST, MAX_PIXELS, acceptance, bounded, shown, text
from ._arrays import image_array
from ._device_array import DeviceArray
from ._errors import DamageWarning, DecodeError, explained

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["ImageInfo", "Pages", "Source", "decode", "encode", "info", "pages", "read", "write"]


class _BinaryFile(Protocol):
    def read(self) -> bytes: ...


class _ArrayLike(Protocol):
    def __array__(self) -> npt.NDArray[Any]: ...


class _ArrayInterface(Protocol):
    @property
    def __array_interface__(self) -> dict[str, Any]: ...


Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]  # uint8 or uint16
# A path, the bytes of a file in any object with the buffer protocol, or a binary file object.
Source: TypeAlias = Union[str, os.PathLike[str], bytes, bytearray, memoryview, np.ndarray[Any, np.dtype[np.uint8]],
                          _BinaryFile]
# An image to encode, also a PIL image.
Image: TypeAlias = Union[Array, _ArrayLike, _ArrayInterface, DeviceArray]
Mode: TypeAlias = Literal["L", "LA", "RGB", "RGBA", "l", "la", "rgb", "rgba"]
Lenient: TypeAlias = Union[bool, Literal["pillow"]]
Integers: TypeAlias = Literal["value", "unit", "range"]
Bands: TypeAlias = Union[Literal["color"], SupportsIndex, Sequence[SupportsIndex], None]

_CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}


def _optional(name: str, value: SupportsIndex | None, low: int, high: int) -> int | None:
    return None if value is None else bounded(name, value, low, high)


def _channels(mode: str | None) -> int:
    if mode is None:
        return 0
    channels = _CHANNELS.get(mode.upper()) if isinstance(mode, str) else None
    if channels is None:
        raise ValueError(f"mode: expected None, 'L', 'LA', 'RGB' or 'RGBA', got {shown(mode)}")
    return channels


def _bands(bands: Bands) -> list[int]:
    if bands is None or bands == "color":
        return []
    if bands == "all":
        raise ValueError("bands: 'all' is only for the program; read each band by its number")
    numbers = bands if isinstance(bands, Sequence) and not isinstance(bands, str) else [bands]
    if len(numbers) not in (1, 3):
        raise ValueError(f"bands: expected 'color', one number or three, got {len(numbers)}")
    return [bounded("bands", number, 1, 65535) for number in numbers]  # type: ignore[arg-type]


def _decoding(mode: str | None, page: SupportsIndex, orient: bool, lenient: Lenient, max_pixels: SupportsIndex,
              bands: Bands, integers: str | None) -> _core.Decoding:
    return _core.Decoding(_channels(mode), bounded("page", page, 0, LARGEST), bool(orient), acceptance(lenient),
                          bounded("max_pixels", max_pixels, 1, 2**34), _bands(bands), bands == "color",
                          "" if integers is None else str(integers))


def _threads(threads: SupportsIndex) -> int:
    return bounded("threads", threads, 0, 1024)


def _warn(lines: Iterable[str], category: type[Warning], name: object = None) -> None:
    """Issue a warning per line at the caller of the public function that calls this."""
    prefix = f"{os.fsdecode(name)}: " if isinstance(name, (str, os.PathLike)) else ""
    for line in lines:
        warnings.warn(prefix + line, category, stacklevel=3)


def _decoded(source: object, name: str, decoding: _core.Decoding, threads: int) -> tuple[Array, list[str]]:
    try:
        return _core.decode(source, decoding, threads)
    except DecodeError as error:
        raise explained(error, source) from None
    except TypeError as error:
        raise TypeError(str(error).replace("source:", f"{name}:", 1)) from None


def _is_list(source: object) -> bool:
    return isinstance(source, (list, tuple))


def _on_device(sources: list[Source], device: object, mode: str | None, page: SupportsIndex, orient: bool,
               lenient: Lenient, stream: object, max_pixels: SupportsIndex, bands: Bands,
               integers: str | None, threads: SupportsIndex) -> list[DeviceArray]:
    """Decode on a CUDA device."""
    if not isinstance(device, str) or not (device == "cuda" or device.startswith("cuda:")):
        raise ValueError(f"device: expected 'cpu', 'cuda' or 'cuda:N', got {shown(device)}")
    _decoding(mode, page, orient, lenient, max_pixels, bands, integers)  # rejects invalid values
    for name, value, only in (("page", page, 0), ("max_pixels", max_pixels, MAX_PIXELS), ("bands", bands, None),
                              ("integers", integers, None)):
        if value != only:
            raise ValueError(f"{name}: expected {only} with device={device!r}; use device='cpu'")
    return _device.decode(sources, device=device, mode=mode and mode.upper(), orient=bool(orient), lenient=lenient,
                          stream=stream, threads=_core.call_threads(_threads(threads)))


@overload
def read(source: Source, *, mode: Mode | None = None, page: SupportsIndex = 0, orient: bool = True,
         lenient: Lenient = False, device: Literal["cpu"] = "cpu", stream: None = None,
         max_pixels: SupportsIndex = MAX_PIXELS, bands: Bands = None,
         integers: Integers | None = None) -> Array: ...
@overload
def read(source: Source, *, mode: Mode | None = None, page: SupportsIndex = 0, orient: bool = True,
         lenient: Lenient = False, device: str, stream: Any = None,
         max_pixels: SupportsIndex = MAX_PIXELS, bands: Bands = None,
         integers: Integers | None = None) -> Any: ...
def read(source: Source, *, mode: str | None = None, page: SupportsIndex = 0, orient: bool = True,
         lenient: Lenient = False, device: str = "cpu", stream: object = None,
         max_pixels: SupportsIndex = MAX_PIXELS, bands: Bands = None,
         integers: Integers | None = None) -> Any:
    """Decode an image file and return its pixels.

    source:  a path, the bytes of a file (any object with the buffer protocol, or a 1-D uint8 array), or a binary file
             object. A file object is read from its position to its end. The format is detected from the content.
    mode:    "L", "LA", "RGB" or "RGBA": convert to these channels. Colour becomes grey by the stage gray, which follows
             Pillow's rule. Grey becomes three equal channels. Alpha is dropped, or opaque if the image has none. None:
             the channels of the image; palettes and CMYK become RGB or RGBA.
    page:    the page of a TIFF, or the frame of a GIF, WebP or PNG, from 0. Other files have one page.
    orient:  apply the EXIF orientation.
    lenient: False rejects damaged files. True decodes the intact parts and fills the rest with mid-grey. "pillow"
             accepts the JPEG and PNG files that Pillow 13 accepts, with its pixels.
    device:  "cpu", "cuda" or "cuda:N". A CUDA device decodes the image on its `stream`.
    max_pixels: larger images are rejected.
    bands:   the samples of a TIFF's pixel, from 1: one number for grey, three for RGB, or "color" for the colours and
             alpha only. None: images whose bands would not all be preserved are rejected.
    integers: the conversion of signed integers, and of those of 32 bits: "value" (float32 of the same value), "unit"
             (float32, the greatest value of the type is 1) or "range" (uint8 or uint16, the least value of the type is
             black). None: such images are rejected.

    Returns a C-contiguous array of uint8, of uint16 if the file has more than 8 bits per sample, or of float32 if it
    has floats: HxW for one channel, otherwise HxWxC. Colour profiles and gamma are not applied.

    Raises DecodeError for a file that is damaged, unsupported, unreadable or too large. If the file does not exist,
    this is a MissingFileError, which is also a FileNotFoundError. Raises TypeError and ValueError for an invalid
    argument, and MemoryError. Issues a DamageWarning for each damage that was accepted.
    """
    if device != "cpu":
        return _on_device([source], device, mode, page, orient, lenient, stream, max_pixels, bands, integers, 0)[0]
    array, damage = _decoded(source, "source", _decoding(mode, page, orient, lenient, max_pixels, bands, integers), 0)
    if damage:
        _warn(damage, DamageWarning, source)
    return array


@overload
def decode(data: list[Source] | tuple[Source, ...], *, mode: Mode | None = None, page: SupportsIndex = 0,
           orient: bool = True, lenient: Lenient = False, device: Literal["cpu"] = "cpu", stream: None = None,
           threads: SupportsIndex = 0, max_pixels: SupportsIndex = MAX_PIXELS, bands: Bands = None,
           integers: Integers | None = None) -> list[Array]: ...
@overload
def decode(data: Source, *, mode: Mode | None = None, page: SupportsIndex = 0, orient: bool = True,
           lenient: Lenient = False, device: Literal["cpu"] = "cpu", stream: None = None, threads: SupportsIndex = 0,
           max_pixels: SupportsIndex = MAX_PIXELS, bands: Bands = None,
           integers: Integers | None = None) -> Array: ...
@overload
def decode(data: Source | list[Source] | tuple[Source, ...], *, mode: Mode | None = None, page: SupportsIndex = 0,
           orient: bool = True, lenient: Lenient = False, device: str, stream: Any = None, threads: SupportsIndex = 0,
           max_pixels: SupportsIndex = MAX_PIXELS, bands: Bands = None,
           integers: Integers | None = None) -> Any: ...
def decode(data: Any, *, mode: str | None = None, page: SupportsIndex = 0, orient: bool = True,
           lenient: Lenient = False, device: str = "cpu", stream: object = None, threads: SupportsIndex = 0,
           max_pixels: SupportsIndex = MAX_PIXELS, bands: Bands = None,
           integers: Integers | None = None) -> Any:
    """Decode the bytes of an image file, or each source of a list.

    data:    a source as for read(), or a list of them. The list's images are decoded in parallel.
    threads: the number of threads; 0: as many as this process may use.

    The other parameters are those of read(). Returns an array, or a list of arrays for a list. Raises the errors of
    read(). If images of a list fail, the error names the path or the number of the first one, and no image is returned.
    """
    if device != "cpu":
        many = list(data) if _is_list(data) else [data]
        results = _on_device(many, device, mode, page, orient, lenient, stream, max_pixels, bands, integers, threads)
        return results if _is_list(data) else results[0]
    decoding = _decoding(mode, page, orient, lenient, max_pixels, bands, integers)
    if not _is_list(data):
        array, damage = _decoded(data, "data", decoding, _threads(threads))
        _warn(damage, DamageWarning, data)
        return array
    decoded = _core.decode_list(data, decoding, _threads(threads))
    for number, (source, (_, damage)) in enumerate(zip(data, decoded)):
        _warn(damage, DamageWarning, source if isinstance(source, (str, os.PathLike)) else f"item {number}")
    return [array for array, _ in decoded]


class Pages(Sequence[Array]):
    """The images of a file: the pages of a TIFF, the frames of a GIF, WebP or PNG, or the one image of another file.

    Each access decodes a page; only that page is in memory. The file of a path stays open as long as this object
    exists; a buffer stays locked. A frame is the whole canvas, as a player shows it. Frames are read fastest in
    order: any other access also decodes the earlier frames that are visible in it.
    """

    def __init__(self, source: Source, decoding: _core.Decoding) -> None:
        self._reader = _core.PageReader(source, decoding)

    def __len__(self) -> int:
        return len(self._reader)

    def _page(self, index: int) -> Array:
        array: Array
        array, damage = self._reader.read(index)
        for line in damage:
            warnings.warn(f"page {index}: {line}", DamageWarning, stacklevel=3)
        return array

    @overload
    def __getitem__(self, index: SupportsIndex) -> Array: ...
    @overload
    def __getitem__(self, index: slice) -> list[Array]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Array | list[Array]:
        count = len(self)
        if isinstance(index, slice):
            return list(map(self._page, range(*index.indices(count))))
        number = operator.index(index)
        if not -count <= number < count:
            raise IndexError(f"page {number}: expected {-count} to {count - 1}")
        return self._page(number % count)

    def __iter__(self) -> Iterator[Array]:
        for index in range(len(self)):
            yield self._page(index)


def pages(source: Source, *, mode: Mode | None = None, orient: bool = True, lenient: Lenient = False,
          max_pixels: SupportsIndex = MAX_PIXELS, bands: Bands = None,
          integers: Integers | None = None) -> Pages:
    """Return the pages of a file as a sequence that decodes each page when it is accessed.

    The parameters are those of read(). Raises DecodeError if the list of pages is damaged; accessing a damaged page
    raises it too. With lenient=True, the pages before a damaged part of the list are used.
    """
    result = Pages(source, _decoding(mode, 0, orient, lenient, max_pixels, bands, integers))
    if damage := result._reader.warning:
        _warn([f"{damage}; the pages before that are used"], DamageWarning, source)
    return result


@dataclasses.dataclass(frozen=True)
class ImageInfo:
    """The properties of an image file, from its header."""

    format: str  # "jpeg", "png", "tiff", "webp", "bmp", "gif", "tga", "psd", "pbm", "pgm", "ppm", "pfm", "npy", "avif",
    # "heic", "jxl"
    width: int  # in pixels, as read() returns the image, with the orientation applied
    height: int
    channels: int  # 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA, as read() returns them
    dtype: str  # "uint8", "uint16" or "float32", as read() returns it
    bits_per_sample: int  # as stored
    pages: int  # the length of pages(): the pages of a TIFF, the frames of an animation, or 1
    images: int  # the same
    durations_ms: tuple[float | None, ...]  # of each frame; None: a PNG's default image that is not a frame
    orientation: int  # EXIF's, as stored: 1 (upright) to 8
    profile: str | None  # the name of the ICC profile
    progressive: bool  # progressive JPEG or interlaced PNG
    path: str | None = None  # None if the source is not a path

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array that read() returns."""
        return (self.height, self.width) if self.channels == 1 else (self.height, self.width, self.channels)


def info(source: Source, *, lenient: Lenient = False) -> ImageInfo:
    """Return the properties of an image file from its header, without decoding it.

    source:  as for read(). Only the headers of a large file are read. The position of a file object is restored if
             possible.
    lenient: as for read(): also describe files that are damaged in their headers.

    Raises DecodeError for a file that is missing, not an image, or damaged in its headers.
    """
    accept = acceptance(lenient)
    if isinstance(source, (str, os.PathLike)):
        return ImageInfo(**_core.inspect(source, accept), path=os.fsdecode(source))
    tell, seek = getattr(source, "tell", None), getattr(source, "seek", None)
    try:
        position = tell() if tell else None
    except (OSError, ValueError):
        position = None  # a pipe
    try:
        return ImageInfo(**_core.inspect(source, accept))
    finally:
        if position is not None and seek:
            seek(position)


def _metadata_source(metadata: object) -> object:
    if not isinstance(metadata, ImageInfo):
        return metadata
    if metadata.path is None:
        raise ValueError("metadata: this ImageInfo has no path; pass the bytes of the file")
    return metadata.path


@overload
def encode(image: list[Image] | tuple[Image, ...], format: str = "png", *, quality: SupportsIndex | None = None,
           level: SupportsIndex | None = None, metadata: Source | ImageInfo | None = None,
           threads: SupportsIndex = 0) -> list[bytes]: ...
@overload
def encode(image: Image, format: str = "png", *, quality: SupportsIndex | None = None,
           level: SupportsIndex | None = None, metadata: Source | ImageInfo | None = None,
           threads: SupportsIndex = 0) -> bytes: ...
def encode(image: Image | list[Image] | tuple[Image, ...], format: str = "png", *, quality: SupportsIndex | None = None,
           level: SupportsIndex | None = None, metadata: Source | ImageInfo | None = None,
           threads: SupportsIndex = 0) -> bytes | list[bytes]:
    """Encode an image as the bytes of a file, or each image of a list.

    image:    uint8 or uint16, HxW or HxWxC with 1 to 4 channels (grey, grey and alpha, RGB, RGBA): a numpy array, a PIL
              image, an array on a device, or an object that numpy.asarray() accepts. A list or tuple of images is
              encoded in parallel.
    format:   "jpeg", "png", "webp", "tiff", "bmp", "tga", "pgm", "ppm" or "pnm"; "npy" or "safetensors" for a tensor of
              float32 or float16 with 3 dimensions.
    quality:  of JPEG, 1 to 100; default 90. A WebP is lossy with a quality, otherwise lossless.
    level:    the compression of PNG, TIFF and WebP, 0 (fastest) to 9 (smallest); default 1.
    metadata: a source (as for read()) or its ImageInfo: preserve the metadata that the program would preserve. The
              image is assumed to be upright, as read() returns it.
    threads:  the number of threads; 0: as many as this process may use. The bytes do not depend on it.

    Raises ValueError if the format cannot hold the image without loss of bits, colour or alpha, or for an invalid
    value; TypeError; MemoryError; DecodeError for `metadata`. Warns of metadata that is not preserved.
    """
    name, source = text("format", format, "png"), _metadata_source(metadata)
    numbers = _optional("quality", quality, 1, 100), _optional("level", level, 0, 9)
    result: bytes | list[bytes]
    if isinstance(image, (list, tuple)):
        result, lost = _core.encode_list([image_array(one, f"image[{i}]") for i, one in enumerate(image)], name,
                                         *numbers, source, _threads(threads))
    else:
        result, lost = _core.encode(image_array(image, "image"), name, *numbers, source, _threads(threads))
    _warn(dict.fromkeys(lost), UserWarning)
    return result


def write(path: str | os.PathLike[str], image: Image, *, quality: SupportsIndex | None = None,
          level: SupportsIndex | None = None, overwrite: bool = False,
          metadata: Source | ImageInfo | None = None, format: str | None = None) -> None:
    """Write an image to a file, which appears complete or not at all.

    path:      its extension determines the format.
    overwrite: replace an existing file, which keeps its permissions; otherwise it is an error.
    format:    the format if the path has no such extension.

    The other parameters are those of encode(). The image is written to a temporary file in the same directory, which is
    then renamed. It is not synced to the disk.

    Raises the errors of encode(), FileExistsError, and OSError if the file cannot be written.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path: expected str or os.PathLike, got {type(path).__name__}; for a file object write "
                        "imgpipe.encode(image, format)")
    lost = _core.write(os.fsencode(path), image_array(image, "image"),
                       "" if format is None else text("format", format, "png"),
                       _optional("quality", quality, 1, 100), _optional("level", level, 0, 9), bool(overwrite),
                       _metadata_source(metadata))
    _warn(lost, UserWarning)
