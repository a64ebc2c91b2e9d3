"""The fuzzers' seeds, and random changes of them, through Pipeline: results or errors, the same in every call."""
import pathlib
import random
import subprocess
import warnings

import imgpipe
import numpy as np
import pytest

SEEDS = pathlib.Path(__file__).parent.parent / "fuzz" / "seeds"
FILES = sorted(path for kind in ("decode", "info", "webp", "stream") for path in (SEEDS / kind).iterdir())
MOST_PIXELS = 1 << 20
STAGES = "gray,resize:31:17:bilinear"


def is_small(source):
    try:
        return int(np.prod(imgpipe.info(source).shape)) <= MOST_PIXELS
    except (imgpipe.DecodeError, MemoryError):
        return True


def changed(data, numbers):
    """The data with bytes changed, cut, repeated or removed."""
    data = bytearray(data)
    for _ in range(numbers.randint(1, 4)):
        at = numbers.randrange(len(data) + 1)
        if numbers.random() < 0.5:
            data[at:at + 1] = bytes([numbers.choice((0, 1, 127, 128, 255, numbers.randrange(256)))])
        elif numbers.random() < 0.5:
            data[at:at + numbers.randrange(40)] = b""
        else:
            data[at:at] = data[max(0, at - 30):at]
    return bytes(data)


def batch(sources, lenient, threads):
    """What becomes of each: bytes of an array, or an error's text."""
    pipe = imgpipe.Pipeline(STAGES, lenient=lenient, threads=threads, on_error="return")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", imgpipe.DamageWarning)
        images, errors, _ = pipe.batch(sources)
    return [str(error) if error else np.asarray(image).tobytes() for image, error in zip(images, errors)]


@pytest.mark.parametrize("lenient", [False, True, "pillow"])
def test_seeds_and_changed_seeds(lenient):
    numbers = random.Random(str(lenient))
    seeds = [path.read_bytes() for path in FILES]
    sources = seeds + [changed(seed, numbers) for seed in seeds for _ in range(20)]
    sources = [source for source in sources if is_small(source)]
    assert len(sources) > len(seeds)
    outcomes = batch(sources, lenient, 1)
    again = batch(sources, lenient, 3)
    for i, (first, second) in enumerate(zip(outcomes, again)):
        assert first == second, f"source {i}: {sources[i].hex()}"
        if isinstance(first, str):
            assert first and "\n" not in first and first.isprintable(), f"{first!r} of {sources[i].hex()}"
    assert any(isinstance(outcome, str) for outcome in outcomes)
    assert any(isinstance(outcome, bytes) for outcome in outcomes)


def test_the_program_agrees(program, tmp_path):
    """Each seed that the package reads has the program's pixels, and it refuses those that the program refuses."""
    made = tmp_path / "made.tif"  # which also holds floats
    read = 0
    for path in FILES:
        if not is_small(path):
            continue
        ran = subprocess.run([program, path, made, "--stages", "invert", "--device", "cpu", "-q", "--overwrite"],
                             stderr=subprocess.PIPE, text=True, check=False)
        try:
            got = imgpipe.Pipeline("invert").read(path)
        except imgpipe.DecodeError as error:
            assert ran.returncode != 0, f"{path}: {error}"
            assert error.reason.replace("integers=", "--integers ") in ran.stderr, path
            continue
        assert ran.returncode == 0, f"{path}: {ran.stderr}"
        np.testing.assert_array_equal(got, imgpipe.read(made), str(path))
        read += 1
    assert read > 10
