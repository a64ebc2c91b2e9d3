"""Marks of tests that need a CUDA device: they skip where it is missing, or fail with IMGPIPE_REQUIRE_GPU=1."""
import concurrent.futures
import importlib
import io
import multiprocessing
import os

import imgpipe
import numpy as np
import PIL.Image
import pytest

from made import noise

REQUIRED = os.environ.get("IMGPIPE_REQUIRE_GPU") == "1"


def skip_unless(test):
    """A mark that skips with the message of the error that `test` raises."""
    try:
        test()
    except (ImportError, RuntimeError) as error:
        return pytest.mark.skipif(not REQUIRED, reason=str(error).splitlines()[0])
    return pytest.mark.skipif(False, reason="")


def use_torch():
    if not importlib.import_module("torch").cuda.is_available():
        raise RuntimeError("torch finds no CUDA device")


def use_cupy():
    if not importlib.import_module("cupy").cuda.is_available():
        raise RuntimeError("cupy finds no CUDA device")


needs_device = skip_unless(lambda: imgpipe.run(noise((8, 8)), "invert", device="cuda"))
needs_torch = skip_unless(use_torch)
needs_cupy = skip_unless(use_cupy)


def in_new_process(function, *arguments, seconds=300):
    """The result of the function in a process that has not used CUDA, or its exception."""
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result(timeout=seconds)


def encoded(array, kind="JPEG", **options):
    file = io.BytesIO()
    PIL.Image.fromarray(array).save(file, kind, **options)
    return file.getvalue()


def smooth_noise(height, width, seed):
    """An RGB array whose JPEG has coefficients of every size."""
    small = PIL.Image.fromarray(noise((height // 6 + 2, width // 6 + 2, 3), seed=seed))
    large = np.asarray(small.resize((width, height), PIL.Image.BICUBIC)).astype(np.int16)
    return np.clip(large + noise((height, width, 3), seed=seed + 1) // 16, 0, 255).astype(np.uint8)
