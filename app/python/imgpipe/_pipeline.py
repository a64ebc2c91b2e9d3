"""Pipelines: stages that are checked once and run on any number of images."""
from __future__ import annotations

import functools
import os
import time
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from . import _core
from ._arguments import MAX_PIXELS, acceptance, bounded, integer, memory_bytes, one_of, text
from ._arrays import image_array
from ._batch import Result, batch_arguments, batch_result
from ._device import DeviceBatches
from ._engine import DeviceEngine, Engine, HostEngine
from ._errors import DamageWarning
from ._images import Images, image_list, second_images
from ._io import Source
from ._report import Report
from ._stages import Stages, stages_text

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Pipeline", "run"]


class Pipeline:
    """Stages that are checked once and run on any number of images.

    stages:   "gray,resize:224:224:bicubic", as on the command line, or a list of imgpipe.ops. See imgpipe.stages().
    device:   "cpu", "cuda" or "cuda:N"; "reference", the plain sequential implementation; or "auto", with which the
              size of a single image decides, and batch() and map() use the CPU.
    threads:  the number of CPU threads of a call; 0: as many as this process may use.
    layout:   the order of the axes of results: "NHWC" (H, W, C) or "NCHW" (C, H, W), with an axis for the channels even
              if there is only one. None: as normalize makes it, otherwise (H, W, C), or (H, W) for one channel.
    on_error: what batch() does when an image fails: "raise" the error of the first, "return" errors with the
              results, or "skip" these images.
    lenient:  False rejects damaged files. True decodes their readable part, with a DamageWarning. "pillow" accepts
              those that Pillow accepts, with its pixels.
    stream:   with a CUDA device: the stream that its work is ordered on; None: the caller's current one.
    max_pixels: larger images, and stages that would make them, are rejected.
    images:   the second images of steps by name, as in Pipeline("subtract:dark", images={"dark": array}): arrays,
              which are copied, or paths. Other names in steps, such as over:logo.png, are paths. Files are read once,
              here.

    A Pipeline can be used by several threads at once, and is pickled by its arguments. Raises TypeError and ValueError
    for wrong arguments, and DecodeError or FileNotFoundError for a second image that cannot be read.
    """

    def __init__(self, stages: Stages, *, device: str = "cpu", threads: SupportsIndex = 0,
                 layout: Literal["NHWC", "NCHW"] | None = None,
                 on_error: Literal["raise", "return", "skip"] = "raise", lenient: bool | Literal["pillow"] = False,
                 stream: object = None, max_pixels: SupportsIndex = MAX_PIXELS, images: Images | None = None) -> None:
        one_of("layout", layout, (None, "NHWC", "NCHW"))
        one_of("on_error", on_error, ("raise", "return", "skip"))
        self._stages = stages_text(stages)
        self._device = text("device", device, "cpu")
        self._threads = integer("threads", threads)
        self._layout, self._on_error, self._lenient, self._stream = layout, on_error, lenient, stream
        self._max_pixels = bounded("max_pixels", max_pixels, 1, 2**34)
        accept = acceptance(lenient)
        self._images = second_images(images)
        loaded = _core.Stages(self._stages, image_list(self._images), accept, self._max_pixels)
        self._core = _core.Pipeline(loaded, self._device, self._threads, layout, accept, self._max_pixels)
        self._engine: Engine = HostEngine(self._core)
        if self._device.startswith("cuda"):
            batches = DeviceBatches(loaded, self._device, self._core.threads, layout, accept, stream,
                                    self._max_pixels)
            self._engine = DeviceEngine(batches, self._core.threads)

    @property
    def stages(self) -> str:
        """The stages as on the command line."""
        return self._stages

    @property
    def device(self) -> str:
        return self._device

    @property
    def threads(self) -> int:
        return self._threads

    @property
    def layout(self) -> Literal["NHWC", "NCHW"] | None:
        return self._layout

    @property
    def on_error(self) -> Literal["raise", "return", "skip"]:
        return self._on_error

    @property
    def lenient(self) -> bool | Literal["pillow"]:
        return self._lenient

    @property
    def stream(self) -> object:
        return self._stream

    @property
    def max_pixels(self) -> int:
        return self._max_pixels

    @property
    def images(self) -> dict[str, Any]:
        """The second images by name: read-only arrays, and paths."""
        return dict(self._images)

    def __call__(self, array: object, *, out: Any = None) -> Any:
        """Run the stages over an image in memory and return the result.

        array: uint8, uint16 or float32 (white is 1), HxW or HxWxC with 1 to 4 channels (grey, grey and alpha, RGB,
               RGBA): a numpy array, a PIL image, an object that numpy.asarray() accepts; with a CUDA device also an
               array on that device. It is not modified.
        out:   an array for the result, of its shape and type; it is returned. There may be gaps between its rows.

        Returns a new array, HxW for one channel, otherwise HxWxC (see `layout`), with the sample type that the stages
        produce; with a CUDA device a DeviceArray. Raises TypeError and ValueError for an array that is not an image or
        that the stages do not accept, RuntimeError for a device that cannot be used, and MemoryError.
        """
        return self._engine.run_array(array, out)

    def run(self, array: object) -> tuple[npt.NDArray[Any], Report]:
        """Run the stages over an image in memory and return (result, report).

        The result is a numpy array, on every device. The report is a dictionary with the device, steps, contrast ranges
        and times. Otherwise the same as calling the pipeline.
        """
        start = time.perf_counter()
        result, report = self._core.run_with_report(image_array(array))
        report["wall_ms"] = 1e3 * (time.perf_counter() - start)
        return result, report

    def read(self, source: Source, *, out: Any = None) -> Any:
        """Decode an image file and run the stages, band by band: the decoded image is never in memory as a whole,
        unless a stage needs all of it.

        source: a path, the bytes of a file, or a binary file object (imgpipe.Source).

        Returns and raises the same as calling the pipeline, and DecodeError for a file that cannot be read.
        """
        return self._engine.read(source, out)

    def convert(self, source: Source, path: str | os.PathLike[str], *, overwrite: bool = False,
                quality: SupportsIndex | None = None, metadata: bool = True) -> None:
        """Run the stages over an image file and write the same file as the program, byte for byte.

        path:      its extension determines the format. The file appears complete or not at all.
        overwrite: replace an existing file; otherwise it is an error.
        quality:   of JPEG and lossy WebP, 1 to 100; default 90.
        metadata:  preserve the metadata and the colour profile that still describe the result.

        Raises the errors of read(), FileExistsError, and OSError if the file cannot be written. Issues a DamageWarning
        for accepted damage, and a UserWarning for data that the file does not preserve.
        """
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path: expected str or os.PathLike, got {type(path).__name__}")
        if quality is not None and not 1 <= integer("quality", quality) <= 100:
            raise ValueError(f"quality: expected 1 to 100, got {integer('quality', quality)}")
        for is_damage, note in self._core.convert(source, os.fsencode(path), bool(overwrite),
                                                  None if quality is None else integer("quality", quality),
                                                  bool(metadata)):
            warnings.warn(note, DamageWarning if is_damage else UserWarning, stacklevel=2)

    def batch(self, sources: Iterable[Any], *, boxes: npt.ArrayLike | None = None, flips: npt.ArrayLike | None = None,
              out: Any = None) -> Any:
        """Decode and run many images in parallel, and return one array of the results.

        sources: N paths, bytes of files, binary file objects or arrays, in any mixture.
        boxes:   N boxes (top, left, height, width), in pixels of the images as read() returns them: the part of each
                 image that the stages get.
        flips:   N bools, or integers 0 and 1: which results are mirrored horizontally, before normalize or at the end.
        out:     an array (N, ...) for the results; it is returned.

        Returns an array (N, ...), or a list if the shapes differ, or no image gives one. With on_error="return" or
        "skip", returns a Batch with the errors. With "return", the rows of failed images are zero, or their entries in
        a list are None; with "skip", failed images have no rows.

        With on_error="raise", raises the error of the first image that fails, with its index: DecodeError, ValueError
        for a box outside the image, TypeError or MemoryError. Always raises TypeError for a source of another type.
        """
        objects, box_array, flip_array = batch_arguments(sources, boxes, flips)
        images, errors = self._engine.batch(objects, box_array, flip_array, out, self._on_error == "raise")
        return batch_result(images, errors, objects, self._on_error)

    def map(self, sources: Iterable[Any], *, workers: SupportsIndex = 0, ordered: bool = True,
            prefetch: SupportsIndex | None = None, memory: int | str | None = None) -> Iterator[Result]:
        """Decode and run images on threads, and iterate over Result(source, image, error).

        sources:  as for batch(); may be endless. The calling thread takes them, as far ahead as `prefetch` allows.
        workers:  the number of threads; 0: the pipeline's `threads`. Otherwise these workers share the pipeline's
                  `threads`.
        ordered:  yield results in the order of the sources; False: in the order of completion.
        prefetch: the largest number of images in progress or waiting to be yielded; None: twice as many as workers.
        memory:   the limit of these images' memory, besides their files: 500000000 bytes, or text such as "1.5G". An
                  image that alone needs more fails with MemoryError.

        For a failed image, `error` is the exception and `image` is None; the iteration continues. Closing the iterator,
        or an exception in the loop, ends the threads after the images that they have begun. One thread at a time may
        use the iterator.
        """
        from ._map import map_sources  # imports concurrent.futures, which takes a while

        return map_sources(self._engine, sources, integer("workers", workers), ordered,
                           None if prefetch is None else integer("prefetch", prefetch),
                           None if memory is None else memory_bytes(memory))

    def __reduce__(self) -> tuple[Any, ...]:
        if self._stream is not None:
            raise TypeError("stream: belongs to this process; a Pipeline with a stream cannot be pickled")
        return _unpickled, (self._stages, self._keywords())

    def _keywords(self) -> dict[str, Any]:
        defaults = {"device": "cpu", "threads": 0, "layout": None, "on_error": "raise", "lenient": False,
                    "stream": None, "max_pixels": MAX_PIXELS, "images": {}}
        return {name: value for name, default in defaults.items() if (value := getattr(self, name)) != default}

    def __repr__(self) -> str:
        return f"Pipeline({', '.join([repr(self._stages), *(f'{k}={v!r}' for k, v in self._keywords().items())])})"


def _unpickled(stages: str, keywords: dict[str, Any]) -> Pipeline:
    return Pipeline(stages, **keywords)


def run(array: object, stages: Stages = "gray,hist,contrast,smooth", *, device: str = "auto",
        threads: SupportsIndex = 0) -> tuple[npt.NDArray[Any], Report]:
    """Run the stages over an image and return (result, report): Pipeline(stages, ...).run(array).

    array:   the image, which is not modified: uint8, uint16 or float32 (white is 1), HxW or HxWxC with 1 to 4 channels
             (grey, grey and alpha, RGB, RGBA). A numpy array, a PIL image, or an object that numpy.asarray() accepts.
    stages:  names with their parameters, in order: "gray,contrast:clip=0.5,resize:640:480", or a list of imgpipe.ops.
    device:  "auto", "cpu", "reference", "cuda" or "cuda:N".
    threads: the number of CPU threads; 0: as many as this process may use.

    The result is a new array with the sample type that the stages produce: HxW for one channel, otherwise HxWxC. The
    report is a dictionary with the device, steps, contrast ranges and times.

    Raises TypeError for an argument or samples of the wrong type, ValueError for a value that is not allowed,
    RuntimeError for a device that cannot be used, and MemoryError.
    """
    checked = text("device", device, "cpu"), integer("threads", threads)
    list_text = stages_text(stages)
    # The files of second images may change between calls.
    make = Pipeline if _core.reads_images(list_text) else _pipeline
    return make(list_text, device=checked[0], threads=checked[1]).run(array)


@functools.lru_cache(maxsize=8)
def _pipeline(stages: str, device: str, threads: int) -> Pipeline:
    return Pipeline(stages, device=device, threads=threads)
