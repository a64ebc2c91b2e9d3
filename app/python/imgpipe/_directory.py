"""The program's batch over a directory."""
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, SupportsIndex

from . import _core
from ._arguments import MAX_PIXELS, acceptance, bounded, function_of, integer, memory_bytes, one_of, text
from ._stages import Stages, stages_text

__all__ = ["Summary", "run_directory"]


@dataclass(frozen=True)
class Summary:
    """The result of run_directory().

    done:     images that were written.
    skipped:  images whose outputs existed (skip_existing=True).
    failed:   (path, reason) of each image without an output, and of each directory that cannot be read.
    pixels:   the number of pixels in the inputs that are done.
    seconds:  the time of the call.
    warnings: lines about images that were written: damage that was accepted, samples reduced to 8 bits.
    """

    done: int
    skipped: int
    failed: list[tuple[str, str]]
    pixels: int
    seconds: float
    warnings: list[str]


def run_directory(input: str | os.PathLike[str], output: str | os.PathLike[str], stages: Stages, *,
                  format: str | None = None, name: str | None = None, recursive: bool = True,
                  include: Iterable[str] = (), exclude: Iterable[str] = (), overwrite: bool = False,
                  skip_existing: bool = False, quality: SupportsIndex | None = None, metadata: bool = True,
                  lenient: bool | Literal["pillow"] = False, decode_scale: Literal["auto", 1, 2, 4, 8] = 1,
                  device: str = "cpu", jobs: SupportsIndex = 0, threads: SupportsIndex = 0,
                  memory: int | str | None = None, max_pixels: SupportsIndex = MAX_PIXELS,
                  on_error: Literal["raise", "return"] = "return",
                  progress: Callable[[int, int], object] | None = None) -> Summary:
    """Process the images of a directory into files in another one, as the program does, and return a Summary.

    The files are byte for byte those of `imgpipe INPUT OUTPUT --stages ...` with the same options.

    input:         a directory, or a pattern such as "scans/*.tif". A directory contributes the files whose extension is
                   that of an image format, except hidden ones.
    output:        the directory of the results. It is created if needed, and need not be empty.
    stages:        the stages as text, or a list of ops.
    format:        of the results: "png", "jpeg", ... Default: the format of each input, or PNG if that cannot be
                   written.
    name:          the names of the results, with fields: "{dir}/{stem}_small.{ext}". Default: "{dir}/{stem}.{ext}", or
                   "{stem}.{ext}" with recursive=False.
    recursive:     process the images in subdirectories too.
    include:       patterns as in .gitignore; only files that match one are inputs.
    exclude:       patterns of files and directories to skip.
    overwrite:     also replace files that imgpipe did not write; otherwise only results of the same inputs.
    skip_existing: skip images whose results exist.
    quality:       of JPEG and lossy WebP, 1 to 100; default 90.
    metadata:      preserve metadata and colour profiles.
    lenient:       True: decode the readable part of damaged files. "pillow": accept the files that Pillow accepts.
    decode_scale:  decode JPEG at 1/2, 1/4 or 1/8 of its size. "auto": at the smallest of them at which no side is
                   shorter than the first resize makes it, if only gray, rgb or flatten precede it.
    device:        "cpu", "reference", "auto", "cuda" (all devices), "cuda:N" or "cuda:N,M". The run uses devices as the
                   program does, within memory_limit() on each, and frees their memory at the end.
    jobs:          the number of images that are processed at a time; 0: as many as threads.
    threads:       the number of CPU threads; 0: as many as this process may use.
    memory:        limits the memory of images in progress: bytes, or text such as "1.5G". None: half of the available
                   memory.
    max_pixels:    larger images, and stages that would make them, are rejected.
    on_error:      "return": Summary.failed lists failed images. "raise": the first one ends the run.
    progress:      called in this thread, at most every 50 ms, with the number of ended images and that of all images.
                   An exception ends the run.

    Ctrl-C ends the run after the images in progress; finished results remain.

    Before any file is written, raises ValueError if no image is found, two results would have the same name, or a
    result would replace an input. Also before that, raises FileExistsError if an existing file may not be replaced.
    Raises DecodeError for the first failed image with on_error="raise", OSError if results cannot be written,
    RuntimeError for a device.
    """
    start = time.perf_counter()
    one_of("on_error", on_error, ("raise", "return"))
    if progress is not None:
        function_of("progress", progress, "done, total")
    if quality is not None and not 1 <= integer("quality", quality) <= 100:
        raise ValueError(f"quality: expected 1 to 100, got {integer('quality', quality)}")
    for argument, value in {"jobs": jobs, "threads": threads}.items():
        if integer(argument, value) < 0:
            raise ValueError(f"{argument}: expected an int from 0, got {integer(argument, value)}")
    one_of("decode_scale", decode_scale, ("auto", 1, 2, 4, 8))
    options = {
        "input": _path("input", input), "output": _path("output", output), "stages": stages_text(stages),
        "format": None if format is None else text("format", format, "png"),
        "name": None if name is None else text("name", name, "{stem}.{ext}"), "recursive": bool(recursive),
        "include": _patterns("include", include), "exclude": _patterns("exclude", exclude),
        "overwrite": bool(overwrite), "skip_existing": bool(skip_existing),
        "quality": None if quality is None else integer("quality", quality), "metadata": bool(metadata),
        "accept": acceptance(lenient), "decode_scale": 0 if decode_scale == "auto" else int(decode_scale),
        "device": text("device", device, "cpu"),
        "jobs": integer("jobs", jobs), "threads": integer("threads", threads),
        "memory": 0 if memory is None else memory_bytes(memory),
        "max_pixels": bounded("max_pixels", max_pixels, 1, 2**34), "fail_fast": on_error == "raise"}
    done, skipped, failed, pixels, warnings = _core.run_directory(options, progress)
    return Summary(done, skipped, failed, pixels, time.perf_counter() - start, warnings)


def _path(name: str, value: object) -> bytes:
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError(f"{name}: expected a path, got {type(value).__name__}")
    return os.fsencode(value)


def _patterns(name: str, value: Iterable[str]) -> list[str]:
    patterns = [value] if isinstance(value, str) else list(value)
    return [text(name, pattern, "*.tif") for pattern in patterns]
